import type { InputError } from '../../base/runtime/errors.ts';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { renderPage } from './layout.tsx';
import type { PageContext } from './page-context.ts';

export interface ErrorAnswer {
  readonly status: number;
  /** An error with a sentence for the user; null: the sentence for the status. */
  readonly fault: InputError | null;
  /** For status 503: the service is overloaded, and the database answers. */
  readonly isBusy?: boolean;
}

export function renderErrorPage(
  context: PageContext,
  { status, fault, isBusy = false }: ErrorAnswer,
): string {
  const { text } = context;
  const message = fault === null ? null : faultSentence(context, fault);
  const [title, help] = {
    400:
      message === null
        ? [text('errors.badRequest'), text('errors.badRequestHelp')]
        : [text('errors.refused'), null],
    403: [text('errors.forbidden'), text('errors.forbiddenHelp')],
    404: [text('errors.notFound'), text('errors.notFoundHelp')],
    503: [
      isBusy ? text('errors.busy') : text('errors.unavailable'),
      text('errors.unavailableHelp'),
    ],
  }[status] ?? [text('errors.internal'), text('errors.internalHelp')];
  return renderPage(context, {
    title: title ?? text('errors.internal'),
    active: null,
    body: (
      <div class="narrow">
        <section class="card">
          <h1>{title}</h1>
          {message !== null && <p>{message}</p>}
          {help !== null && <p class="quiet">{help}</p>}
          <p>
            <a href="/" data-back>
              {text('errors.back')}
            </a>
          </p>
        </section>
      </div>
    ),
  });
}

const STATUS: ReadonlyMap<unknown, number> = new Map([
  ['wrong_proof', 401],
  // A day that is not ready for a sign-off.
  ...['payment_held', 'not_checked', 'altered'].map((fault) => [fault, 409] as const),
  ['too_many_tries', 429],
]);

export const statusOf = ({ context: { fault } }: InputError): number => STATUS.get(fault) ?? 400;

/**
 * Returns the sentence of an error in the language of the reader. Its dates and numbers are those of
 * the error's context. An error without a known fault keeps its English message.
 */
export function faultSentence({ text, formats }: PageContext, error: InputError): string {
  const { fault, ...values } = error.context;
  const shown = Object.entries(values).map(([name, value]) => {
    const date = typeof value === 'string' ? parseCivilDate(value) : null;
    if (date !== null) return [name, formats.date(date)];
    if (name === 'month') return [name, formats.month(String(value))];
    return [name, typeof value === 'number' ? formats.count(value) : String(value)];
  });
  return text.find(`faults.${fault}`, Object.fromEntries(shown)) ?? error.message;
}
