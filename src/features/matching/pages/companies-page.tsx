import { Type } from 'typebox';
import { id } from '../../../console/api/schema-parts.ts';
import { declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { type Column, ListTable, TableCard } from '../../../console/list/columns.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import type { PageContext } from '../../../console/shell/page-context.ts';
import { Card } from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import {
  type Confirmations,
  confirmAgent,
  confirmCompanies,
  endConfirmation,
  readConfirmations,
} from '../confirmations.sql.ts';

const text = Type.Optional(Type.String());
const PAGE = '/companies';

const CONFIRM_COMPANIES = declareAction({
  path: PAGE,
  who: REVIEW,
  // A pair is a CNPJ, which has 14 characters, a blank and the company.
  input: { pair: Type.Optional(Type.Array(Type.String())), company: text, buyer: text, reason },
  deed: ({ database, fourEyes }, { pair = [], company, buyer, reason }, by) => {
    const pairs = pair.map((text) => ({ buyer: text.slice(0, 14), company: text.slice(15) }));
    if (company !== undefined || buyer !== undefined) {
      pairs.push({ buyer: buyer ?? '', company: company ?? '' });
    }
    return confirmCompanies(database, pairs, { by, reason, fourEyes });
  },
  next: () => PAGE,
  notice: 'confirmed',
});

const CONFIRM_AGENT = declareAction({
  path: '/agents',
  who: REVIEW,
  input: { taxId: text, sameAs: text, reason },
  fields: {
    taxId: { label: 'matching.agent', html: { required: true, maxLength: 20 } },
    sameAs: { label: 'matching.sameAs', html: { required: true, maxLength: 20 } },
  },
  deed: ({ database, fourEyes }, { taxId = '', sameAs = '', reason }, by) =>
    confirmAgent(database, { taxId, sameAs }, { by, reason, fourEyes }),
  next: () => PAGE,
  notice: 'confirmed',
});

const endOf = (kind: 'company' | 'agent', path: `/${string}`) =>
  declareAction({
    path,
    who: REVIEW,
    input: { id, reason },
    deed: ({ database }, { id, reason }, by) =>
      endConfirmation(database, kind, BigInt(id), { by, reason }),
    next: () => PAGE,
    notice: 'confirmation_ended',
  });
const END_COMPANY = endOf('company', '/companies/:id/end');
const END_AGENT = endOf('agent', '/agents/:id/end');

export const COMPANY_ACTIONS = [CONFIRM_COMPANIES, CONFIRM_AGENT, END_COMPANY, END_AGENT];

export const COMPANIES = declarePage({
  path: PAGE,
  active: '/breaks',
  input: {},
  read: ({ database }) => readConfirmations(database),
  title: (context) => context.text('matching.companies'),
  body: (data, page) => {
    const { text } = page;
    const label = text('matching.unmapped');
    const unmapped =
      data.unmapped.length === 0 ? (
        <p class="quiet">{text('matching.unmappedNone')}</p>
      ) : (
        <ListTable label={label} columns={UNMAPPED_COLUMNS} rows={data.unmapped} />
      );
    const form = { values: {}, button: text('matching.confirm'), look: 'primary' } as const;
    return (
      <>
        <div>
          <h1>{text('matching.companies')}</h1>
          <p class="quiet">{text('matching.companiesHelp')}</p>
        </div>
        <Card title={label}>
          {!CONFIRM_COMPANIES.isOffered(page) && unmapped}
          <CONFIRM_COMPANIES.Form {...form} class="stack">
            {unmapped}
            <p class="quiet">{text('matching.otherPair')}</p>
            <div class="filters">
              <Field label={text('matching.company')}>
                <input name="company" maxLength={255} />
              </Field>
              <Field label={text('matching.buyer')}>
                <input name="buyer" maxLength={20} />
              </Field>
            </div>
          </CONFIRM_COMPANIES.Form>
        </Card>
        <TableCard
          head="matching.confirmed"
          none="matching.confirmedNone"
          columns={[
            { name: 'company', head: 'matching.company' },
            { name: 'buyer', head: 'matching.buyer' },
            ...confirmationColumns(END_COMPANY, page),
          ]}
          rows={data.companies}
        />
        <TableCard
          head="matching.agents"
          help="matching.agentsHelp"
          none="matching.confirmedNone"
          columns={[
            { name: 'tax_id', head: 'matching.agent' },
            { name: 'same_as', head: 'matching.sameAs' },
            ...confirmationColumns(END_AGENT, page),
          ]}
          rows={data.agents}
        >
          <CONFIRM_AGENT.Form {...form} class="filters" />
        </TableCard>
      </>
    );
  },
});

const UNMAPPED_COLUMNS: readonly Column<Confirmations['unmapped'][number]>[] = [
  { name: 'company', head: 'matching.company', isHead: true },
  { name: 'payables', head: 'matching.openPayables', kind: 'count' },
  { name: 'value', head: 'matching.openValue', kind: 'amount' },
  {
    name: 'proposals',
    head: 'matching.proposals',
    value: ({ proposals }) => proposals.map(({ buyer }) => buyer).join(' ') || null,
    // Without a proposal, the cell has the value, which is none.
    cell: ({ company, proposals }, page) =>
      (proposals.length > 0 ? proposals : null)?.map(({ buyer, matches }) => {
        const { text, formats } = page;
        const proposal = text('matching.proposal', { buyer, matches: formats.count(matches) });
        return CONFIRM_COMPANIES.isOffered(page) ? (
          <label class="check" key={buyer}>
            <input type="checkbox" name="pair" value={`${buyer} ${company}`} checked /> {proposal}
          </label>
        ) : (
          <div key={buyer}>{proposal}</div>
        );
      }),
  },
];

/** Who confirmed, and the form that ends a confirmation of either kind. */
const confirmationColumns = (
  end: typeof END_AGENT,
  page: PageContext,
): readonly Column<Omit<Confirmations['agents'][number], 'taxId' | 'sameAs'>>[] => [
  {
    name: 'confirmed_at',
    head: 'matching.at',
    kind: 'instant',
    note: ({ confirmedBy }) => confirmedBy,
  },
  { name: 'reason', head: 'matching.reason' },
  ...(end.isOffered(page)
    ? [
        {
          name: 'end',
          head: 'matching.end' as const,
          only: 'page' as const,
          cell: ({ id }: { readonly id: number | bigint }) => (
            <end.Form values={{ id }} button={page.text('matching.end')} look="primary" isFolded />
          ),
        },
      ]
    : []),
];
