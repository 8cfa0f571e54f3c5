import type { FindingRow } from '../../checks/findings.sql.ts';
import { CHECK_TEXTS } from '../../domain/checks/checks.ts';
import type { PageContext } from '../shell/page-context.ts';
import { Card } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';
import { Compared, FindingStateText, ResolveForm } from './findings-page.tsx';

/** The findings of one title, each with a form to resolve it. */
export function TitleFindings(props: {
  readonly context: PageContext;
  readonly findings: readonly FindingRow[];
}) {
  const { context, findings } = props;
  const { text } = context;
  const mayResolve = mayUse(context.principal?.role ?? 'viewer', 'POST', '/findings');
  if (findings.length === 0) return null;
  return (
    <Card title={text.findings.ofTitle}>
      <ul class="stack">
        {findings.map((finding) => {
          const { name, text: rule } = CHECK_TEXTS[context.language][finding.code];
          return (
            <li key={finding.id}>
              <p>
                <strong>{name}</strong> ({text.findings.severities[finding.severity]}) · {rule}
              </p>
              <p class="small">
                <Compared context={context} finding={finding} />
              </p>
              <p class="small">
                <FindingStateText context={context} finding={finding} />
              </p>
              {finding.state === 'open' && mayResolve && (
                <ResolveForm
                  context={context}
                  group={{ date: finding.date, code: finding.code, newestId: finding.id }}
                  titleId={finding.titleId}
                  label={text.findings.resolveOne}
                />
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
