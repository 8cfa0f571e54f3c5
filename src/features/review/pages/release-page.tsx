import { Type } from 'typebox';
import { capitalised } from '../../../base/texts/texts.ts';
import { id } from '../../../console/api/schema-parts.ts';
import { declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { maskTaxId } from '../../../console/shell/masking.ts';
import type { PageContext } from '../../../console/shell/page-context.ts';
import { Card } from '../../../console/shell/parts.tsx';
import { DECIDE } from '../../../console/shell/route-access.ts';
import { readHeldRun, releaseRun } from '../../../core/merge/decide-runs.sql.ts';
import { releasePull } from '../../../core/merge/decisions.sql.ts';
import { implausibleText, isImplausible } from '../day-alerts.sql.ts';
import type { Hold } from '../ledger-days.sql.ts';
import { previewRelease } from '../release-preview.sql.ts';
import { ChangesTable } from './changed-titles.tsx';
import { PULL_DAY } from './day-actions.tsx';

const MOVED_SHOWN = 100;

const PATH = '/pulls/:id/release';

export const RELEASE_PAGE = declarePage({
  path: PATH,
  who: DECIDE,
  active: '/sign-offs',
  input: { id },
  read: async (parts, { id }) => {
    const preview = await previewRelease(parts, BigInt(id), MOVED_SHOWN);
    if (preview === null) return null;
    const heldRun = await readHeldRun(parts.database, BigInt(id));
    /** run: the held pulls of the run, which one decision can release. */
    return { pullId: id, preview, run: heldRun.map(Number) };
  },
  title: ({ text }, { pullId }) => text('release.title', { pull: String(pullId) }),
  body: ({ pullId, preview, run }, page) => {
    const { text, formats } = page;
    return (
      <>
        <nav class="crumbs" aria-label={text('nav.days')}>
          <a href={`/days/${preview.date}`}>← {formats.date(preview.date)}</a>
        </nav>
        <div>
          <h1>{text('release.title', { pull: String(pullId) })}</h1>
          <p class="quiet">{text('release.intro')}</p>
        </div>
        <Card title={text('release.change')} class="stack">
          <p>
            {holdText(page, preview.hold, preview.currentTitles)}
            {preview.isSignedOff && <strong> {text('release.signedOff')}</strong>}
          </p>
          {preview.accountTitles > 0 && (
            <p class="error">
              {text('release.accounts', {
                titles: preview.accountTitles,
                accounts: preview.accounts,
              })}
            </p>
          )}
          <ListTable
            label={text('release.change')}
            columns={FIGURE_COLUMNS}
            rows={[
              {
                figure: text('days.titles'),
                now: formats.count(preview.currentTitles),
                after: formats.count(preview.titlesAfter),
                difference: formats
                  .amount(String(preview.titlesAfter - preview.currentTitles))
                  .slice(0, -3),
              },
              {
                figure: text('amounts.original_value'),
                now: formats.amount(preview.currentSum),
                after: formats.amount(preview.sumAfter),
                difference: formats.amount(preview.sumDifference),
              },
            ]}
          />
          {preview.rejected > 0 && (
            <p class="small">
              {text('days.rejected')}: {formats.count(preview.rejected)}.{' '}
              {preview.withheld > 0 && text('release.withheld', { count: preview.withheld })}
            </p>
          )}
          <ChangesTable label={text('release.change')} moved={preview.moved} />
        </Card>
        <div class="columns">
          <Card title={text('release.release')}>
            <RELEASE.Form
              values={{ id: pullId }}
              reason={text('release.confirm')}
              button={text('release.release')}
              look="danger"
              help={text('release.releaseHelp')}
            >
              {run.length > 1 && (
                <label>
                  <input type="checkbox" name="run" value={run.join()} />{' '}
                  {text('release.wholeRun', { count: run.length - 1 })}
                </label>
              )}
            </RELEASE.Form>
          </Card>
          <Card title={text('release.refuse')} class="stack">
            <p>{text('release.refuseHelp', { titles: formats.count(preview.currentTitles) })}</p>
            <PULL_DAY.Form
              values={{ date: preview.date }}
              button={text('release.refuseAndPull')}
              otherwise={text('release.operatorPulls')}
            />
          </Card>
        </div>
      </>
    );
  },
});

export const RELEASE = declareAction({
  path: PATH,
  who: DECIDE,
  input: { id, run: Type.Optional(Type.String({ pattern: '^\\d{1,15}(,\\d{1,15})*$' })), reason },
  deed: async (parts, { id, run, reason }, by) => {
    const decision = { by, reason };
    if (run === undefined) return releasePull(parts, BigInt(id), decision);
    await releaseRun(parts, BigInt(id), { ...decision, seen: run.split(',').map(BigInt) });
    return null;
  },
  next: (_, released) => (released === null ? '/' : `/days/${released.date}?notice=released`),
});

/** Texts that are formatted already. */
const FIGURE_COLUMNS: readonly Column<
  Readonly<Record<'figure' | 'now' | 'after' | 'difference', string>>
>[] = [
  { name: 'figure', head: 'day.amount', isHead: true },
  { name: 'now', head: 'release.now', kind: 'count' },
  { name: 'after', head: 'release.after', kind: 'count' },
  { name: 'difference', head: 'restated.difference', kind: 'count' },
];

/** Why a response is held, with its numbers and, masked, the buyer that they are about, and what a person does next. */
export function holdText(
  { text, language, formats }: PageContext,
  hold: Omit<Hold, 'faults'>,
  currentTitles: number,
): string {
  const { reason, detail } = hold;
  const buyer = detail?.buyer ?? '';
  const why = isImplausible(reason)
    ? `${capitalised(implausibleText(language, reason, detail))}.`
    : text('release.reasons', {
        reason: String(reason),
        titles: formats.count(currentTitles),
        withdrawals: formats.count(hold.withdrawals),
      });
  if (reason === 'unreadable') return why;
  return [
    why,
    ...(buyer === '' ? [] : [text('release.ofBuyer', { buyer: maskTaxId(buyer) })]),
    text('release.next', { reason: String(reason) }),
  ].join(' ');
}
