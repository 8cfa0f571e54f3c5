import { type Language, listDates, textOf } from '../../base/texts/texts.ts';
import { amountText } from '../../base/values/display-text.ts';
import { type OpenItems, TASKS, type Task, type TaskKey } from './open-items.ts';

/** The state of the ledger in words, the same in the console, in `conciliation status`, in the API and in the digest. */
export interface Headline {
  /** Whether nothing waits for a person. */
  readonly inOrder: boolean;
  /** The last date that is over. */
  readonly title: string;
  /** The tasks, the greatest risk first. */
  readonly lines: readonly string[];
}

/** Returns whether an item needs a person. Days that only wait for a sign-off do not count. */
export function needsPerson({ tasks }: OpenItems): boolean {
  return tasks.some(({ key }) => TASKS[key].isOpen);
}

export function headlineOf(items: OpenItems, language: Language): Headline {
  const text = textOf(language);
  const { startDate, yesterday, tasks } = items;
  const { date, state, titles, originalValueSum } = yesterday;
  const show = (shown: typeof date) => listDates([shown], language);
  const lines = tasks.map((task) =>
    [
      taskText(task, language),
      ...(task.value === null ? [] : [moneyText(task.value, language)]),
      ...(task.dates.length === 0 ? [] : [listDates(task.dates, language)]),
    ].join(' · '),
  );
  return {
    inOrder: startDate !== null && startDate <= date && tasks.length === 0,
    title:
      startDate === null
        ? text('headline.empty')
        : startDate > date
          ? text('headline.begins', { start: show(startDate) })
          : isEmpty(state)
            ? text(`headline.empty_day.${state}`, { date: show(date) })
            : text(`headline.yesterday.${state}`, {
                date: show(date),
                titles,
                value: moneyText(originalValueSum, language),
              }),
    lines: lines.length === 0 && startDate !== null ? [text('headline.nothing')] : lines,
  };
}

type CountedKey = Exclude<
  TaskKey,
  'account_changes' | 'waiting' | 'paused' | 'providers_locked' | 'alert' | 'failed'
>;

/** Whether the day has no titles to count. */
const EMPTY = ['absent', 'pending', 'failed', 'first_held'] as const;
const isEmpty = (state: string): state is (typeof EMPTY)[number] =>
  EMPTY.some((known) => known === state);

/** A task without its value and its dates. */
export function taskText({ key, count, titles = 0, fault, alert }: Task, language: Language) {
  const text = textOf(language);
  if (alert !== undefined) {
    const message = language === 'en' ? alert.message : alert.messagePt;
    const more = count === 1 ? '' : `, ${text('days.more', { count: count - 1 })}`;
    return `${text(`alerts.kinds.${alert.kind}`)}: ${message}${more}`;
  }
  switch (key) {
    case 'account_changes':
      return text('tasks.account_changes', { count, titles });
    case 'waiting':
      return text('tasks.waiting', {
        count,
        reason: text(`bookings.waitingFor.${fault ?? 'none'}`),
      });
    case 'paused':
      return text('tasks.paused');
    case 'providers_locked':
      return text('tasks.providers_locked');
    default:
      return text(`tasks.counted.${key as CountedKey}`, { count });
  }
}

/** The interface has no field for the currency: every amount is in reais. */
export const moneyText = (value: string, language: Language) => `R$ ${amountText(value, language)}`;
