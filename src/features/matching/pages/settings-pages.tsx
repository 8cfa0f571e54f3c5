import { Type } from 'typebox';
import { id } from '../../../console/api/schema-parts.ts';
import { declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { type Column, ListTable, TableCard } from '../../../console/list/columns.tsx';
import { amountField, readFilter } from '../../../console/list/filter.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { type PageContext, pageContext } from '../../../console/shell/page-context.ts';
import { Card, Submit } from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { MAX_MOVE_DAYS } from '../../calendar/business-days.sql.ts';
import {
  type Confirmations,
  confirmAgent,
  confirmCompanies,
  endConfirmation,
  type RuleEffect,
  readConfirmations,
  readRules,
  setRules,
  tryRules,
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

const PATH = '/matching-rules';
const TOLERANCE = /^\d{1,6}([.]\d{1,2})?$/;
const RULES = {
  dueDays: Type.Integer({ minimum: 0, maximum: MAX_MOVE_DAYS }),
  valueTolerance: Type.String({ pattern: TOLERANCE.source }),
};
const TRIED = { valueTolerance: amountField('matching.ruleNames.valueTolerance', TOLERANCE) };

export const SET_RULES = declareAction({
  path: PATH,
  who: REVIEW,
  input: { ...RULES, reason },
  deed: ({ database, fourEyes }, { reason, ...rules }, by) =>
    setRules(database, rules, { by, reason, fourEyes }),
  next: () => PATH,
  notice: 'confirmed',
});

/** The rules that count; and for others, what they would change, before a person sets them. */
export const MATCHING_RULES = declarePage({
  path: PATH,
  active: '/breaks',
  who: REVIEW,
  input: { dueDays: Type.Optional(RULES.dueDays), valueTolerance: text },
  read: async ({ database, timeZone }, input, request) => {
    const { language } = pageContext(request, timeZone);
    const { valueTolerance } = readFilter(TRIED, input, language);
    const present = await readRules(database);
    const rules = {
      dueDays: input.dueDays ?? present.dueDays,
      valueTolerance: valueTolerance?.decimal ?? present.valueTolerance,
    };
    const isTried = input.dueDays !== undefined || valueTolerance !== null;
    const by = actorOf(request);
    return { rules, effects: isTried ? await tryRules(database, rules, { by, timeZone }) : null };
  },
  title: ({ text }) => text('matching.rulesTitle'),
  body: ({ rules, effects }, { text, formats }) => {
    const countOf = (name: RuleEffect['effect']) =>
      effects?.filter(({ effect }) => effect === name).length ?? 0;
    const label = text('matching.dryRun');
    return (
      <>
        <div>
          <h1>{text('matching.rulesTitle')}</h1>
          <p class="quiet">{text('matching.rulesHelp')}</p>
        </div>
        <Card title={text('matching.rulesTitle')}>
          <form method="get" action={PATH} class="filters">
            <Field label={text('matching.ruleNames.dueDays')}>
              <input type="number" name="dueDays" value={rules.dueDays} max={MAX_MOVE_DAYS} />
            </Field>
            <Field label={text('matching.ruleNames.valueTolerance')}>
              <input
                name="valueTolerance"
                value={formats.amount(rules.valueTolerance)}
                inputMode="decimal"
              />
            </Field>
            <div class="buttons">
              <Submit>{label}</Submit>
            </div>
          </form>
        </Card>
        {effects !== null && (
          <Card title={label}>
            <p>
              {text('matching.dryRunResult', {
                dueDays: rules.dueDays,
                valueTolerance: formats.amount(rules.valueTolerance),
                closes: countOf('closes'),
                opens: countOf('opens'),
                proposed: countOf('proposed'),
                lost: countOf('lost'),
              })}
            </p>
            {effects.length > 0 && (
              <ListTable label={label} columns={COLUMNS} rows={effects.slice(0, SHOWN)} />
            )}
            <SET_RULES.Form values={rules} button={text('matching.setRules')} look="primary" />
          </Card>
        )}
      </>
    );
  },
});

const COLUMNS: readonly Column<RuleEffect>[] = [
  { name: 'effect', head: 'matching.effect', word: ({ effect }) => `matching.effects.${effect}` },
  {
    name: 'order_uid',
    head: 'matching.order',
    href: ({ titleId }) => `/titles/${titleId}`,
    isHead: true,
  },
  { name: 'accepted_date', head: 'matching.date', kind: 'day' },
  { name: 'value', head: 'matching.value', kind: 'amount' },
];

const SHOWN = 200;
