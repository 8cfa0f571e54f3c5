import type { DayObstacle } from '../../../console/day-obstacle.ts';
import type { Words } from '../../../console/list/columns.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { authorText, Card } from '../../../console/shell/parts.tsx';
import type { ErpStage } from '../months/month-seal.sql.ts';
import { isKept, type JudgedDay, OBSTACLES, type Obstacle } from '../obstacles.sql.ts';
import type { SignOff } from '../sign-off.sql.ts';
import { REOPEN_DAY, SIGN_DAY } from './day-actions.ts';

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
export function Remarks(props: { readonly day: Pick<JudgedDay, 'date' | 'obstacles'> }) {
  const { date, obstacles } = props.day;
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
  readonly stage: ErpStage;
}) {
  const context = usePage();
  const { day, seals, stage } = props;
  const { text, formats } = context;
  const mayReview = SIGN_DAY.isOffered(context);
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
        {isOpen && <Remarks day={day} />}
        {isOpen && !(isKept(day) && mayReview) && (
          <SIGN_DAY.Form
            values={{ date: day.date, digest: day.contentDigest }}
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
