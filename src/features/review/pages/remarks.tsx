import type { CivilDate } from '../../../base/values/business-day.ts';
import type { DayObstacle } from '../../../console/day-obstacle.ts';
import type { Words } from '../../../console/list/columns.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  authorText,
  Card,
  DayLink,
  Disclosure,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import { isKept, type JudgedDay, OBSTACLES, type Obstacle } from '../obstacles.sql.ts';
import type { SignOff } from '../sign-off.sql.ts';

/** The text of an obstacle, with its number and value. */
export function obstacleText(
  { code, kind, found, value }: Obstacle,
  { text, formats }: Words,
): string {
  const label =
    code === 'break'
      ? text.find(`matching.kinds.${kind}`)
      : code === 'finding'
        ? text.find(`checks.names.${kind}`)
        : text(`obstacles.${code}`);
  const amount = value === null ? '' : ` (${formats.amount(value)})`;
  return found === null ? (label ?? '') : `${label}: ${formats.count(found)}${amount}`;
}

/** What a person should know about a day before the sign-off, or why the day cannot be signed off. */
export function Remarks(props: {
  readonly day: { readonly date: CivilDate; readonly obstacles?: readonly Obstacle[] };
}) {
  const { date, obstacles = [] } = props.day;
  const page = usePage();
  if (obstacles.length === 0) return <span class="quiet">–</span>;
  return (
    <ul class="small remarks">
      {obstacles.map((obstacle) => {
        const { code, kind, isUrgent } = obstacle;
        const { href } = OBSTACLES[code] as DayObstacle;
        const label = obstacleText(obstacle, page);
        return (
          <li key={`${code} ${kind}`}>
            {href === undefined ? label : <a href={href(date, kind)}>{label}</a>}
            {isUrgent && ' '}
            {isUrgent && <span class="tag is-withdrawn">{page.text('matching.urgent')}</span>}
          </li>
        );
      })}
    </ul>
  );
}

export function SignOffCard(props: {
  readonly day: JudgedDay;
  readonly seals: readonly SignOff[];
  readonly nextToSign: CivilDate | null;
}) {
  const context = usePage();
  const { day, seals } = props;
  const { text, formats } = context;
  const role = context.principal?.role ?? 'viewer';
  const mayReview = mayUse(role, 'POST', '/days/:date/sign-off');
  const isOpen = day.signedOffAt === null || day.isRestated;
  const ended = seals.filter((seal) => seal.endedAt !== null);
  const note = seals.find((seal) => seal.endedAt === null)?.reason ?? null;
  return (
    <Card title={text('day.signOff')}>
      <div class="stack">
        {day.signedOffAt !== null && day.signedOffBy !== null ? (
          <div>
            <p>
              {text('day.signedBy', {
                name: authorText(text, day.signedOffBy),
                at: formats.instant(day.signedOffAt),
              })}
            </p>
            {note !== null && <p class="quiet">{note}</p>}
          </div>
        ) : (
          <p>{text('day.notSigned')}</p>
        )}
        {isOpen && !mayReview && <p class="quiet">{text('day.reviewersSign')}</p>}
        {isOpen && <Remarks day={day} />}
        {isOpen && mayReview && !isKept(day) && (
          <ActionForm action={`/days/${day.date}/sign-off`}>
            <input type="hidden" name="digest" value={day.contentDigest ?? ''} />
            <Field label={text('day.note')}>
              <input name="reason" maxLength={500} />
            </Field>
            <Submit class="primary">
              {day.isRestated ? text('day.signAgain') : text('day.sign')}
            </Submit>
            <p class="quiet small">{text('day.signHelp')}</p>
          </ActionForm>
        )}
        {!isOpen && mayReview && props.nextToSign !== null && (
          <p>
            {text('signOffs.next')}: <DayLink date={props.nextToSign} /> ·{' '}
            <a href="/sign-offs">{text('lists.signOffs.title')}</a>
          </p>
        )}
        {day.signedOffAt !== null && mayReview && (
          <Disclosure label={text('day.reopen')}>
            <ActionForm action={`/days/${day.date}/reopen`}>
              <p class="small">{text('day.reopenHelp')}</p>
              <Field label={text('day.reason')}>
                <input name="reason" required maxLength={500} />
              </Field>
              <Submit class="danger">{text('day.reopen')}</Submit>
            </ActionForm>
          </Disclosure>
        )}
        {ended.length > 0 && (
          <div>
            <h3>{text('day.seals')}</h3>
            <ul class="small">
              {ended.map((seal) => (
                <li key={seal.id}>
                  {text('day.signedBy', {
                    name: authorText(text, seal.signedOffBy),
                    at: formats.instant(seal.signedOffAt),
                  })}
                  ;{' '}
                  {text('day.sealEnded', {
                    name: authorText(text, seal.endedBy ?? ''),
                    at: seal.endedAt === null ? '' : formats.instant(seal.endedAt),
                  })}
                  {seal.endReason !== null && <span class="quiet"> ({seal.endReason})</span>}
                  <br />
                  <span class="quiet">
                    {text('day.sealedTitles', {
                      titles: seal.titles,
                      sum: formats.amount(seal.originalValueSum),
                    })}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Card>
  );
}
