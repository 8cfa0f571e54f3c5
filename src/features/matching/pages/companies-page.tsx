import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { DataTable } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import { ActionForm, Card, Disclosure, Instant, Submit } from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import type { Confirmation, Confirmations, UnmappedCompany } from '../confirmations.sql.ts';
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
  const { text } = context;
  const mayDecide = mayUse(context.principal?.role ?? 'viewer', 'POST', '/companies');
  return (
    <>
      <div>
        <h1>{text('matching.companies')}</h1>
        <p class="quiet">{text('matching.companiesHelp')}</p>
      </div>
      <Card title={text('matching.unmapped')}>
        {mayDecide ? (
          <ActionForm action="/companies" class="stack">
            <Unmapped data={data} mayDecide />
            <p class="quiet">{text('matching.otherPair')}</p>
            <div class="filters">
              <Field label={text('matching.company')}>
                <input name="company" maxLength={255} />
              </Field>
              <Field label={text('matching.buyer')}>
                <input name="buyer" maxLength={20} />
              </Field>
              <ReasonField />
              <Submit class="primary">{text('matching.confirm')}</Submit>
            </div>
          </ActionForm>
        ) : (
          <Unmapped data={data} mayDecide={false} />
        )}
      </Card>
      <Card title={text('matching.confirmed')}>
        <Confirmed
          label={text('matching.confirmed')}
          heads={[text('matching.company'), text('matching.buyer')]}
          rows={data.companies.map((row) => ({ ...row, cells: [row.company, row.buyer] }))}
          path="/companies"
          mayEnd={mayDecide}
        />
      </Card>
      <Card title={text('matching.agents')}>
        <p class="quiet">{text('matching.agentsHelp')}</p>
        <Confirmed
          label={text('matching.agents')}
          heads={[text('matching.agent'), text('matching.sameAs')]}
          rows={data.agents.map((row) => ({ ...row, cells: [row.taxId, row.sameAs] }))}
          path="/agents"
          mayEnd={mayDecide}
        />
        {mayDecide && (
          <ActionForm action="/agents" class="filters">
            <Field label={text('matching.agent')}>
              <input name="taxId" required maxLength={20} />
            </Field>
            <Field label={text('matching.sameAs')}>
              <input name="sameAs" required maxLength={20} />
            </Field>
            <ReasonField />
            <Submit class="primary">{text('matching.confirm')}</Submit>
          </ActionForm>
        )}
      </Card>
    </>
  );
}

const unmappedColumns = (mayDecide: boolean): readonly Column<UnmappedCompany>[] => [
  {
    name: 'company',
    head: 'matching.company',
    kind: 'text',
    value: (row) => row.company,
    isHead: true,
  },
  { name: 'payables', head: 'matching.openPayables', kind: 'count', value: (row) => row.payables },
  { name: 'value', head: 'matching.openValue', kind: 'amount', value: (row) => row.value },
  {
    name: 'proposals',
    head: 'matching.proposals',
    kind: 'text',
    value: ({ proposals }) => proposals.map(({ buyer }) => buyer).join(' ') || null,
    cell: ({ company, proposals }, { text, formats }) =>
      // Without a proposal, the cell has the value, which is none.
      (proposals.length > 0 ? proposals : null)?.map(({ buyer, matches }) => {
        const proposal = text('matching.proposal', { buyer, matches: formats.count(matches) });
        return (
          <div key={buyer}>
            {mayDecide ? (
              <label>
                <input type="checkbox" name="pair" value={pairValue(company, buyer)} checked />{' '}
                {proposal}
              </label>
            ) : (
              proposal
            )}
          </div>
        );
      }),
  },
];

function Unmapped({ data, mayDecide }: PageProps & { readonly mayDecide: boolean }) {
  const { text } = usePage();
  if (data.unmapped.length === 0) return <p class="quiet">{text('matching.unmappedNone')}</p>;
  const columns = unmappedColumns(mayDecide);
  return <ListTable label={text('matching.unmapped')} columns={columns} rows={data.unmapped} />;
}

function Confirmed(props: {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly (Confirmation & { readonly cells: readonly string[] })[];
  readonly path: string;
  readonly mayEnd: boolean;
}) {
  const { text } = usePage();
  if (props.rows.length === 0) return <p class="quiet">{text('matching.confirmedNone')}</p>;
  return (
    <DataTable
      label={props.label}
      heads={[
        ...props.heads,
        text('matching.at'),
        text('matching.reason'),
        ...(props.mayEnd ? [text('matching.end')] : []),
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
              <Disclosure label={text('matching.end')}>
                <ActionForm action={`${props.path}/${row.id}/end`}>
                  <ReasonField />
                  <Submit class="primary">{text('matching.end')}</Submit>
                </ActionForm>
              </Disclosure>
            </td>
          )}
        </tr>
      ))}
    </DataTable>
  );
}
