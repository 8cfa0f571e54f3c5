import type { Break, BreakPayable, BreakTitle, Candidate } from '../../matching/breaks.sql.ts';
import { DataTable, right } from '../shell/data-table.tsx';
import { Field } from '../shell/layout.tsx';
import { usePage } from '../shell/page-context.ts';
import { ActionForm, AmountCell, Card, DayLink, Disclosure, Submit } from '../shell/parts.tsx';
import { mayUse } from '../shell/route-access.ts';

interface BreakPageProps {
  readonly found: Break;
  readonly candidates: readonly Candidate[];
}

/** Both sides of a break, the payables near the title, and what a person can decide. */
export function BreakPage(props: BreakPageProps) {
  const context = usePage();
  const { found } = props;
  const { matching } = context.text;
  const role = context.principal?.role ?? 'viewer';
  const mayDecide = mayUse(role, 'POST', '/break/resolve');
  const { title } = found;
  return (
    <>
      <nav class="crumbs" aria-label={matching.title}>
        <a href="/breaks">← {matching.title}</a>
      </nav>
      <div>
        <h1>{matching.kinds[found.kind]}</h1>
        <p>{matching.help[found.kind]}</p>
      </div>
      <div class="columns">
        <Card title={matching.onPlatform}>
          <TitleSide title={title} />
        </Card>
        <Card title={matching.inErp}>
          <PayableSide payable={found.payable} />
        </Card>
      </div>
      {title !== null && !title.isWithdrawn && (
        <Candidates {...props} title={title} mayDecide={mayDecide} />
      )}
      {mayDecide && <Resolve found={found} />}
    </>
  );
}

function TitleSide({ title }: { title: BreakTitle | null }) {
  const { text, formats } = usePage();
  const { matching } = text;
  if (title === null) return <p class="quiet">{matching.noTitle}</p>;
  return (
    <dl class="fields">
      <dt>{matching.order}</dt>
      <dd class="anywhere">
        <a href={`/titles/${title.id}`}>{title.orderUid}</a>
      </dd>
      <dt>{matching.date}</dt>
      <dd>
        <DayLink date={title.acceptedDate} />
      </dd>
      <dt>{matching.dueDate}</dt>
      <dd>{title.dueDate === null ? '–' : formats.date(title.dueDate)}</dd>
      <dt>{text.amounts.original_value}</dt>
      <dd>{formats.amount(title.value)}</dd>
      <dt>{matching.supplier}</dt>
      <dd>{title.supplier ?? '–'}</dd>
      <dt>{matching.status}</dt>
      <dd>{text.title.status[title.isWithdrawn ? 'withdrawn' : 'current']}</dd>
    </dl>
  );
}

/** The fields of a payable. */
export function PayableSide({ payable }: { readonly payable: BreakPayable | null }) {
  const { text, formats } = usePage();
  const { matching } = text;
  if (payable === null) return <p class="quiet">{matching.noPayable}</p>;
  const rows: readonly (readonly [string, string | null])[] = [
    [matching.key, payable.erpKey],
    [matching.company, payable.company],
    [matching.document, payable.document],
    [matching.instalment, payable.instalment],
    [matching.order, payable.orderUid],
    [matching.dueDate, payable.dueDate === null ? null : formats.date(payable.dueDate)],
    [matching.openValue, formats.amount(payable.openValue)],
    [matching.supplier, payable.supplier],
    [matching.status, matching.statuses[payable.status] ?? payable.status],
    ...(payable.payee === null ? [] : [[matching.payee, matching.payees[payable.payee]] as const]),
  ];
  return (
    <dl class="fields">
      {rows.map(([name, value]) => [
        <dt key={name}>{name}</dt>,
        <dd key={`${name} value`} class="anywhere">
          {value ?? '–'}
        </dd>,
      ])}
    </dl>
  );
}

function Candidates(
  props: BreakPageProps & { readonly title: BreakTitle; readonly mayDecide: boolean },
) {
  const { candidates } = props;
  const { text, formats } = usePage();
  const { matching } = text;
  return (
    <Card title={matching.candidates}>
      <p class="quiet">
        {candidates.length === 0 ? matching.candidatesNone : matching.candidatesHelp}
      </p>
      {candidates.length > 0 && (
        <DataTable
          label={matching.candidates}
          heads={[
            matching.key,
            matching.document,
            matching.dueDate,
            right(matching.openValue),
            matching.common,
            ...(props.mayDecide ? [matching.matchHere] : []),
          ]}
        >
          {candidates.map(({ payable, ...same }) => (
            <tr key={payable.erpKey}>
              <th scope="row" class="anywhere">
                {payable.erpKey}
              </th>
              <td class="anywhere">{payable.document ?? '–'}</td>
              <td>{payable.dueDate === null ? '–' : formats.date(payable.dueDate)}</td>
              <AmountCell value={payable.openValue} />
              <td>
                {[
                  same.sameOrder ? matching.sameOrder : null,
                  same.sameValue ? matching.sameValue : null,
                  same.sameDue ? matching.sameDue : null,
                ]
                  .filter((word) => word !== null)
                  .join(', ')}
              </td>
              {props.mayDecide && (
                <td>
                  <Disclosure label={matching.matchHere}>
                    <ActionForm action="/break/match">
                      <input type="hidden" name="title" value={String(props.title.id)} />
                      <input type="hidden" name="date" value={props.title.acceptedDate} />
                      <input type="hidden" name="payable" value={payable.erpKey} />
                      <ReasonField />
                      <Submit class="primary">{matching.matchWith(payable.erpKey)}</Submit>
                    </ActionForm>
                  </Disclosure>
                </td>
              )}
            </tr>
          ))}
        </DataTable>
      )}
    </Card>
  );
}

export function ReasonField() {
  const { text } = usePage();
  return (
    <Field label={text.matching.reason}>
      <input name="reason" required maxLength={500} />
    </Field>
  );
}

function Resolve({ found }: { readonly found: Break }) {
  const { matching } = usePage().text;
  const { kind, title, payable, ground } = found;
  return (
    <Card title={matching.resolve}>
      <p class="quiet">{matching.resolveHelp}</p>
      <ActionForm action="/break/resolve">
        <input type="hidden" name="kind" value={kind} />
        {title !== null && <input type="hidden" name="title" value={String(title.id)} />}
        {payable !== null && <input type="hidden" name="payable" value={payable.erpKey} />}
        <input type="hidden" name="ground" value={ground} />
        {title !== null && <input type="hidden" name="date" value={title.acceptedDate} />}
        <ReasonField />
        <Submit class="primary">{matching.resolve}</Submit>
      </ActionForm>
    </Card>
  );
}
