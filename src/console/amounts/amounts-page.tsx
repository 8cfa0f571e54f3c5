import { type AmountMeanings, DISCOUNTED_FIELDS } from '../../domain/amount-meaning.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import { type AmountEvidence, EVIDENCE_TITLES } from '../../ledger/amount-evidence.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { Card, Submit } from '../shell/parts.tsx';

/** The declared meaning of each amount, and how often the titles agree with each meaning. */
export function AmountsPage(props: {
  readonly meanings: AmountMeanings;
  readonly range: { readonly from: CivilDate; readonly to: CivilDate };
  readonly evidence: readonly AmountEvidence[];
}) {
  const context = usePage();
  const { meanings, range, evidence } = props;
  const { formats } = context;
  const text = context.text.amountMeaning;
  const share = (titles: number, of: number) =>
    text.holds(formats.count(titles), `${formats.decimalText(percent(titles, of))}%`);
  return (
    <>
      <div>
        <h1>{text.title}</h1>
        <p class="quiet">{text.intro}</p>
      </div>
      <form method="get" class="card filters">
        <Field label={text.from}>
          <input type="date" name="from" required value={range.from} />
        </Field>
        <Field label={text.to}>
          <input type="date" name="to" required value={range.to} />
        </Field>
        <div class="buttons">
          <Submit>{text.show}</Submit>
        </div>
      </form>
      <Card title={text.evidence}>
        <p class="quiet">
          {text.range(
            formats.date(range.from),
            formats.date(range.to),
            formats.count(EVIDENCE_TITLES),
          )}
        </p>
        <DataTable
          label={text.evidence}
          heads={[text.field, ...evidence.map(({ column }) => right(DISCOUNTED_FIELDS[column]))]}
        >
          <tr>
            <th scope="row">{text.declared}</th>
            {evidence.map(({ column }) => (
              <td key={column} class="right">
                {text.meanings[meanings[column]]}
              </td>
            ))}
          </tr>
          {COUNTS.map((name) => (
            <tr key={name}>
              <th scope="row">{text[name]}</th>
              {evidence.map((amount) => (
                <td key={amount.column} class="right number">
                  {formats.count(amount[name])}
                </td>
              ))}
            </tr>
          ))}
        </DataTable>
        <h3>{text.equations}</h3>
        {evidence.every(({ equations }) => equations.length === 0) && <p>{text.none}</p>}
        <ul>
          {evidence.flatMap(({ equations, titles }) =>
            equations.map((found) => (
              <li key={found.equation}>
                <code>{found.equation}</code>: {share(found.titles, titles)}
              </li>
            )),
          )}
        </ul>
      </Card>
    </>
  );
}

const COUNTS = ['titles', 'zero', 'belowHalf', 'fromHalf', 'aboveOriginal'] as const;

/** With one decimal place. 100.0 only where all titles agree. */
function percent(titles: number, of: number): string {
  return (Math.floor((titles * 1000) / of) / 10).toFixed(1);
}
