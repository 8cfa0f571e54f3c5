/** The actions of a person on one day. */
import { Type } from 'typebox';
import { recordAudit } from '../../../base/audit/audit.ts';
import { refusal } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { ledgerDate } from '../../../console/api/schema-parts.ts';
import type { DayObstacle } from '../../../console/day-obstacle.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import type { Words } from '../../../console/list/columns.tsx';
import { type ConsoleParts, todayOf } from '../../../console/shell/console-parts.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText, Card } from '../../../console/shell/parts.tsx';
import { DECIDE, OPERATE, REVIEW } from '../../../console/shell/route-access.ts';
import { createPull } from '../../../core/ledger/pull-requests.sql.ts';
import type { ErpStage } from '../months/month-seal.sql.ts';
import { isKept, type JudgedDay, OBSTACLES, type Obstacle, seenOf } from '../obstacles.sql.ts';
import { acceptRejects, reopenDay, signOffDay } from '../sign-off.sql.ts';

const date = ledgerDate;
const next = (input: { readonly date: string }) => `/days/${input.date}`;

export const PULL_DAY = declareAction({
  path: '/days/:date/pull',
  who: OPERATE,
  input: { date },
  deed: (parts, { date }, by) => requestPull(parts, date, by),
  next,
  notice: 'pull_requested',
});

const SIGN_DAY = declareAction({
  path: '/days/:date/sign-off',
  who: REVIEW,
  input: { date, digest: Type.Optional(Type.String()), reason: Type.Optional(reason) },
  deed: (parts, { date, digest: seenDigest = '', reason = null }, by) =>
    signOffDay(parts.database, date, { ...parts, by, reason, seenDigest }),
  next,
  notice: 'signed_off',
});

const REOPEN_DAY = declareAction({
  path: '/days/:date/reopen',
  who: REVIEW,
  input: { date, reason },
  deed: ({ database }, { date, reason }, by) => reopenDay(database, date, { by, reason }),
  next,
  notice: 'reopened',
});

export const ACCEPT_REJECTS = declareAction({
  path: '/days/:date/accept-rejects',
  who: DECIDE,
  input: { date, reason },
  deed: ({ database }, { date, reason }, by) => acceptRejects(database, date, { by, reason }),
  next,
  notice: 'accepted',
});

export const DAY_ACTIONS = [PULL_DAY, SIGN_DAY, REOPEN_DAY, ACCEPT_REJECTS];

/**
 * Records a request to pull a date, with its entry of the audit log, and wakes a worker. If the queue is not available,
 * the planner wakes the worker later.
 * @throws InputError for a date that has not begun
 */
export async function requestPull(
  parts: ConsoleParts,
  date: CivilDate,
  by: string,
): Promise<bigint> {
  const { database, logger, wake } = parts;
  if (date > todayOf(parts)) throw refusal('date_future', { date });
  const pullId = await database.prisma.$transaction(async (tx) => {
    const id = await createPull({ prisma: tx }, { origin: 'manual', date, requestedBy: by });
    await recordAudit(tx, { actor: by, action: 'pull.request', date, pullId: id });
    return id;
  });
  await wake(pullId).catch((error: unknown) => {
    logger.warn({ pullId: String(pullId), err: error }, 'no worker was woken');
  });
  return pullId;
}

export function obstacleText(
  { code, kind, found, value, waits }: Obstacle,
  { text, formats }: Words,
): string {
  const label =
    code === 'break'
      ? text.find(`matching.kinds.${kind}`)
      : code === 'finding'
        ? text.find(`checks.names.${kind}`)
        : text(`obstacles.${kind === 'refused' ? 'account_refused' : code}`);
  const amount = value === null ? '' : ` (${formats.amount(value)})`;
  const fate = waits === null ? '' : `, ${text(waits ? 'signOffs.waits' : 'signOffs.goes')}`;
  return found === null ? (label ?? '') : `${label}: ${formats.count(found)}${amount}${fate}`;
}

/** What a person should know about a day before the sign-off, or why the day cannot be signed off. */
export function Remarks(props: { readonly day: Pick<JudgedDay, 'date' | 'obstacles'> }) {
  const { date, obstacles } = props.day;
  const page = usePage();
  if (obstacles.length === 0) return <span class="quiet">–</span>;
  return (
    <ul class="small remarks">
      {obstacles.map((obstacle) => {
        const { code, kind, isUrgent, waits } = obstacle;
        const { href } = OBSTACLES[code] as DayObstacle;
        const label = obstacleText(obstacle, page);
        return (
          <li key={`${code} ${kind} ${waits}`}>
            {href === undefined ? label : <a href={href(date, kind)}>{label}</a>}
            {isUrgent && ' '}
            {isUrgent && <span class="tag is-withdrawn">{page.text('matching.urgent')}</span>}
          </li>
        );
      })}
    </ul>
  );
}

export function SignOffCard(props: { readonly day: JudgedDay; readonly stage: ErpStage }) {
  const context = usePage();
  const { day, stage } = props;
  const { text, formats } = context;
  const mayReview = SIGN_DAY.isOffered(context);
  const isOpen = day.signedOffAt === null || day.isRestated;
  const isRefused = isKept(day) && mayReview;
  // The titles of a signed day that do not wait are released.
  const waiting = day.obstacles.map((found) => ({ ...found, waits: found.waits || null }));
  return (
    <Card
      title={text('day.signOff')}
      aside={<a href={`/audit?date=${day.date}`}>{text('day.audit')}</a>}
    >
      <div class="stack">
        {day.signedOffAt !== null && day.signedOffBy !== null ? (
          <p>
            {text('day.signedBy', {
              name: authorText(text, day.signedOffBy),
              at: formats.instant(day.signedOffAt),
            })}
          </p>
        ) : (
          <p>{text('day.notSigned')}</p>
        )}
        {(isOpen || day.obstacles.length > 0) && (
          <Remarks day={{ date: day.date, obstacles: isOpen ? day.obstacles : waiting }} />
        )}
        {isOpen && isRefused && <p class="quiet">{text('day.kept')}</p>}
        {isOpen && !isRefused && (
          <SIGN_DAY.Form
            values={{ date: day.date, digest: seenOf(day) }}
            reason={text('day.note')}
            button={text(day.isRestated ? 'day.signAgain' : 'day.sign')}
            look="primary"
            help={text('day.signHelp')}
            otherwise={text('day.reviewersSign')}
          />
        )}
        {!isOpen && mayReview && (
          <p>
            <a href="/sign-offs">{text('lists.signOffs.title')}</a>
          </p>
        )}
        {day.signedOffAt !== null && (
          <REOPEN_DAY.Form
            values={{ date: day.date }}
            button={text('day.reopen')}
            look="danger"
            help={text('day.reopenHelp')}
            isFolded
          >
            {stage.posted > 0 && (
              <p>
                {text('day.reopenPosted', {
                  count: stage.posted,
                  value: formats.amount(stage.postedValue),
                })}
              </p>
            )}
          </REOPEN_DAY.Form>
        )}
      </div>
    </Card>
  );
}
