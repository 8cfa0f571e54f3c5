import { type AmountMeanings, DISCOUNTED_FIELDS } from '../../domain/amount-meaning.ts';
import type { CivilDate } from '../../domain/business-day.ts';
import { type AmountEvidence, EVIDENCE_TITLES } from '../../ledger/amount-evidence.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import type { PageContext } from '../shell/page-context.ts';
import { Card } from '../shell/parts.tsx';

/** What is declared about each amount, and how often the titles agree with each meaning. */
export function AmountsPage(props: {
  readonly context: PageContext;
  readonly meanings: AmountMeanings;
  readonly range: { readonly from: CivilDate; readonly to: CivilDate };
  readonly evidence: readonly AmountEvidence[];
}) {
  const { context, meanings, range, evidence } = props;
  const { formats } = context;
  const text = context.text.amountMeaning;
  const share = (titles: number, of: number) =>
    text.holds(formats.count(titles), `${formats.decimalText(percent(titles, of))} %`);
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
        <button type="submit" class="button">
          {text.show}
        </button>
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
          heads={[
            text.field,
            text.declared,
            right(text.stated),
            right(text.zero),
            right(text.belowHalf),
            right(text.fromHalf),
            right(text.above),
            text.equations,
          ]}
        >
          {evidence.map(
            ({ column, titles, zero, belowHalf, fromHalf, aboveOriginal, equations }) => (
              <tr key={column}>
                <th scope="row">{DISCOUNTED_FIELDS[column]}</th>
                <td>{text.meanings[meanings[column]]}</td>
                {[titles, zero, belowHalf, fromHalf, aboveOriginal].map((count, index) => (
                  <td key={String(index)} class="right number">
                    {formats.count(count)}
                  </td>
                ))}
                <td>
                  {equations.length === 0
                    ? text.none
                    : equations.map((found) => (
                        <p key={found.equation} class="small">
                          <code>{found.equation}</code>
                          <br />
                          {share(found.titles, titles)}
                        </p>
                      ))}
                </td>
              </tr>
            ),
          )}
        </DataTable>
      </Card>
    </>
  );
}

/** With one decimal place. 100.0 only where all titles agree. */
function percent(titles: number, of: number): string {
  return (Math.floor((titles * 1000) / of) / 10).toFixed(1);
}
