import type { RunRow } from '../../matching/match-reads.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, Disclosure, Instant, Submit } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';
import { ReasonField } from './break-page.tsx';
import { authorOf } from './match-cards.tsx';

/** The runs of the matching. */
export function RunsPage({ runs }: { runs: readonly RunRow[] }) {
  const context = usePage();
  const { text, formats } = context;
  const { matching } = text;
  const mayUndo = mayUse(context.principal?.role ?? 'viewer', 'POST', '/match-runs/:id/undo');
  return (
    <>
      <nav class="crumbs" aria-label={matching.title}>
        <a href="/breaks">← {matching.title}</a>
      </nav>
      <div>
        <h1>{matching.runs}</h1>
        <p class="quiet">{matching.runsHelp}</p>
      </div>
      <section class="card">
        {runs.length === 0 ? (
          <p class="quiet">{matching.runsNone}</p>
        ) : (
          <DataTable
            label={matching.runs}
            heads={[
              matching.run,
              matching.at,
              right(matching.made),
              right(matching.reopened),
              matching.undoRun,
            ]}
          >
            {runs.map((run) => (
              <tr key={String(run.id)}>
                <th scope="row">{String(run.id)}</th>
                <td>
                  <Instant at={run.startedAt} />
                  <br />
                  <span class="quiet small">{authorOf(context, run.requestedBy)}</span>
                </td>
                <td class="right number">{formats.count(run.matched)}</td>
                <td class="right number">{formats.count(run.reopened)}</td>
                <td>
                  {run.undoneAt !== null ? (
                    matching.undone(
                      authorOf(context, run.undoneBy ?? ''),
                      formats.instant(run.undoneAt),
                      run.undoReason ?? '',
                    )
                  ) : mayUndo && run.matched > 0 ? (
                    <Disclosure label={matching.undoRun}>
                      <ActionForm action={`/match-runs/${run.id}/undo`}>
                        <ReasonField />
                        <Submit class="primary">{matching.undoRun}</Submit>
                      </ActionForm>
                    </Disclosure>
                  ) : (
                    '–'
                  )}
                </td>
              </tr>
            ))}
          </DataTable>
        )}
      </section>
    </>
  );
}
