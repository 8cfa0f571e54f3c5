import { usePage } from '../../../console/shell/page-context.ts';
import { Card } from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { FindingRow } from '../findings.sql.ts';
import { Compared, FindingStateText, ResolveForm } from './findings-page.tsx';

/** The findings of one title, each with a form to resolve it. */
export function TitleFindings({ findings }: { readonly findings: readonly FindingRow[] }) {
  const context = usePage();
  const { text } = context;
  const mayResolve = mayUse(context.principal?.role ?? 'viewer', 'POST', '/findings');
  if (findings.length === 0) return null;
  return (
    <Card title={text('findings.ofTitle')}>
      <ul class="stack">
        {findings.map((finding) => {
          return (
            <li key={finding.id}>
              <p>
                <strong>{text(`checks.names.${finding.code}`)}</strong> (
                {text(`findings.severities.${finding.severity}`)}) ·{' '}
                {text(`checks.texts.${finding.code}`)}
              </p>
              <p class="small">
                <Compared finding={finding} />
              </p>
              <p class="small">
                <FindingStateText finding={finding} />
              </p>
              {finding.state === 'open' && mayResolve && (
                <ResolveForm
                  group={{ date: finding.date, code: finding.code, newestId: finding.id }}
                  titleId={finding.titleId}
                  label={text('findings.resolveOne')}
                />
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
