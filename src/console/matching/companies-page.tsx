import type { Confirmation, Confirmations } from '../../matching/confirmations.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, AmountCell, Card, Disclosure, Instant, Submit } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';
import { ReasonField } from './break-page.tsx';

interface PageProps {
  readonly data: Confirmations;
}

/** The form value of a company and a buyer. A CNPJ has 14 characters. */
const pairValue = (company: string, buyer: string) => `${buyer} ${company}`;
export const pairOf = (value: string) => ({ buyer: value.slice(0, 14), company: value.slice(15) });

/** The buyers of the ERP's companies and the tax identifiers of financial agents, and what a person can confirm. */
export function CompaniesPage({ data }: PageProps) {
  const context = usePage();
  const { matching } = context.text;
  const mayDecide = mayUse(context.principal?.role ?? 'viewer', 'POST', '/companies');
  return (
    <>
      <nav class="crumbs" aria-label={matching.title}>
        <a href="/breaks">← {matching.title}</a>
      </nav>
      <div>
        <h1>{matching.companies}</h1>
        <p class="quiet">{matching.companiesHelp}</p>
      </div>
      <Card title={matching.unmapped}>
        {mayDecide ? (
          <ActionForm action="/companies" class="stack">
            <Unmapped data={data} mayDecide />
            <p class="quiet">{matching.otherPair}</p>
            <div class="filters">
              <Field label={matching.company}>
                <input name="company" maxLength={255} />
              </Field>
              <Field label={matching.buyer}>
                <input name="buyer" maxLength={20} />
              </Field>
              <ReasonField />
              <Submit class="primary">{matching.confirm}</Submit>
            </div>
          </ActionForm>
        ) : (
          <Unmapped data={data} mayDecide={false} />
        )}
      </Card>
      <Card title={matching.confirmed}>
        <Confirmed
          label={matching.confirmed}
          heads={[matching.company, matching.buyer]}
          rows={data.companies.map((row) => ({ ...row, cells: [row.company, row.buyer] }))}
          path="/companies"
          mayEnd={mayDecide}
        />
      </Card>
      <Card title={matching.agents}>
        <p class="quiet">{matching.agentsHelp}</p>
        <Confirmed
          label={matching.agents}
          heads={[matching.agent, matching.sameAs]}
          rows={data.agents.map((row) => ({ ...row, cells: [row.taxId, row.sameAs] }))}
          path="/agents"
          mayEnd={mayDecide}
        />
        {mayDecide && (
          <ActionForm action="/agents" class="filters">
            <Field label={matching.agent}>
              <input name="taxId" required maxLength={20} />
            </Field>
            <Field label={matching.sameAs}>
              <input name="sameAs" required maxLength={20} />
            </Field>
            <ReasonField />
            <Submit class="primary">{matching.confirm}</Submit>
          </ActionForm>
        )}
      </Card>
    </>
  );
}

function Unmapped({ data, mayDecide }: PageProps & { readonly mayDecide: boolean }) {
  const { text, formats } = usePage();
  const { matching } = text;
  if (data.unmapped.length === 0) return <p class="quiet">{matching.unmappedNone}</p>;
  return (
    <DataTable
      label={matching.unmapped}
      heads={[
        matching.company,
        right(matching.openPayables),
        right(matching.openValue),
        matching.proposals,
      ]}
    >
      {data.unmapped.map(({ company, payables, value, proposals }) => (
        <tr key={company}>
          <th scope="row" class="anywhere">
            {company}
          </th>
          <td class="right number">{formats.count(payables)}</td>
          <AmountCell value={value} />
          <td>
            {proposals.length === 0 && '–'}
            {proposals.map(({ buyer, matches }) => {
              const proposal = matching.proposal(buyer, formats.count(matches));
              return (
                <div key={buyer}>
                  {mayDecide ? (
                    <label>
                      <input
                        type="checkbox"
                        name="pair"
                        value={pairValue(company, buyer)}
                        checked
                      />{' '}
                      {proposal}
                    </label>
                  ) : (
                    proposal
                  )}
                </div>
              );
            })}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function Confirmed(props: {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly (Confirmation & { readonly cells: readonly string[] })[];
  readonly path: string;
  readonly mayEnd: boolean;
}) {
  const { matching } = usePage().text;
  if (props.rows.length === 0) return <p class="quiet">{matching.confirmedNone}</p>;
  return (
    <DataTable
      label={props.label}
      heads={[
        ...props.heads,
        matching.at,
        matching.reason,
        ...(props.mayEnd ? [matching.end] : []),
      ]}
    >
      {props.rows.map((row) => (
        <tr key={String(row.id)}>
          {row.cells.map((cell) => (
            <td key={cell} class="anywhere">
              {cell}
            </td>
          ))}
          <td>
            <Instant at={row.confirmedAt} />
            <br />
            <span class="quiet small">{row.confirmedBy}</span>
          </td>
          <td class="anywhere">{row.reason}</td>
          {props.mayEnd && (
            <td>
              <Disclosure label={matching.end}>
                <ActionForm action={`${props.path}/${row.id}/end`}>
                  <ReasonField />
                  <Submit class="primary">{matching.end}</Submit>
                </ActionForm>
              </Disclosure>
            </td>
          )}
        </tr>
      ))}
    </DataTable>
  );
}
