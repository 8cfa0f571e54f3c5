import type { TextKey } from '../../../base/texts/texts.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { id } from '../../../console/api/schema-parts.ts';
import { declareAction, reason } from '../../../console/declare.tsx';
import { type PageContext, usePage } from '../../../console/shell/page-context.ts';
import { authorText, Card, Fields, type OwnSealProps } from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import type { BreakPayable, TitleMatch } from '../break-list.sql.ts';
import { MATCHING_ACTOR } from '../break-pairs.sql.ts';
import { undoMatch } from '../match-decisions.sql.ts';
import { BREAKS } from './breaks-page.tsx';

/** The author of a match or of its end. */
const authorOf = ({ text }: PageContext, name: string) =>
  name === MATCHING_ACTOR ? text('matching.matching') : authorText(text, name);

export const UNDO_MATCH = declareAction({
  path: '/matches/:id/undo',
  who: REVIEW,
  input: { id, reason },
  deed: ({ database, fourEyes }, { id, reason }, by) =>
    undoMatch(database, BigInt(id), { by, reason, fourEyes }),
  next: (_, titleId) => `/titles/${titleId}`,
  notice: 'match_undone',
});

/** The match of a title and its earlier ones, with a link to the breaks of its date. */
export function TitleMatches(props: {
  readonly date: CivilDate;
  readonly matches: readonly TitleMatch[];
  /** What keeps this person from undoing the match; null: nothing. */
  readonly ownSeal: OwnSealProps | null;
}) {
  const context = usePage();
  const { text, formats } = context;
  const [newest] = props.matches;
  const present = newest?.endedAt === null ? newest : undefined;
  const payables = props.matches.filter(({ endedAt }) => endedAt === null);
  return (
    <Card
      title={text('matching.match')}
      aside={<a href={BREAKS.href({ date: props.date })}>{text('matching.openBreaks')}</a>}
    >
      {present === undefined ? (
        <p class="quiet">{text('matching.unmatched')}</p>
      ) : (
        <div class="stack">
          {payables.map(({ payable }) => (
            <MatchedPayable key={payable.erpKey} payable={payable} />
          ))}
          {present.otherTitles.length > 0 && (
            <p>
              {text('matching.sharedWith')}{' '}
              {present.otherTitles.map((id) => [
                <a key={String(id)} href={`/titles/${id}`}>
                  {id}
                </a>,
                ' ',
              ])}
            </p>
          )}
          <p>
            {text('matching.rule', {
              rule: text(`matching.rules.${present.rule}`),
              version: String(present.ruleVersion),
            })}
            <br />
            <span class="quiet">
              {text('matching.madeBy', {
                who: authorOf(context, present.madeBy),
                at: formats.instant(present.madeAt),
              })}
              {present.code !== null &&
                `: ${text(`matching.codes.${present.code}`)}: ${present.reason}`}
            </span>
          </p>
          <UNDO_MATCH.Form
            values={{ id: present.id }}
            button={text('matching.undo')}
            look="primary"
            help={text('matching.undoHelp')}
            ownSeal={props.ownSeal}
            isFolded
          />
        </div>
      )}
      <ul class="small">
        {props.matches.map(
          ({ id, payable, endedAt, endedBy, endReason }) =>
            endedAt !== null && (
              <li key={String(id)} class="anywhere">
                {payable.erpKey}.{' '}
                {text('matching.ended', {
                  who: authorOf(context, endedBy ?? ''),
                  at: formats.instant(endedAt),
                  reason: text.find(`matching.endReasons.${endReason}`) ?? endReason ?? '',
                })}
              </li>
            ),
        )}
      </ul>
    </Card>
  );
}

function MatchedPayable({ payable }: { readonly payable: BreakPayable }) {
  const { text, formats } = usePage();
  const { payee, status, dueDate, openValue } = payable;
  const row = (name: TextKey, value: string | null) =>
    [text(name), value ?? '–', 'anywhere'] as const;
  return (
    <Fields
      rows={[
        row('matching.key', payable.erpKey),
        row('matching.company', payable.company),
        row('matching.document', payable.document),
        row('matching.instalment', payable.instalment),
        row('matching.order', payable.orderUid),
        row('matching.dueDate', dueDate && formats.date(dueDate)),
        row('matching.openValue', formats.amount(openValue)),
        row('matching.supplier', payable.supplier),
        row('matching.status', text.find(`matching.statuses.${status}`) ?? status),
        ...(payee === null ? [] : [row('matching.payee', text(`matching.payees.${payee}`))]),
      ]}
    />
  );
}
