import type { CivilDate } from '../../../base/values/business-day.ts';
import { DataTable, right } from '../../../console/shell/data-table.tsx';
import { Field } from '../../../console/shell/layout.tsx';
import { usePage } from '../../../console/shell/page-context.ts';
import {
  ActionForm,
  AmountCell,
  Card,
  DayLink,
  Disclosure,
  Options,
  OwnSeal,
  Submit,
} from '../../../console/shell/parts.tsx';
import { mayUse } from '../../../console/shell/route-access.ts';
import {
  BREAK_CODES,
  type Break,
  type BreakPayable,
  type BreakTitle,
  type Candidate,
} from '../breaks.sql.ts';

interface BreakPageProps {
  readonly found: Break;
  readonly candidates: readonly Candidate[];
  /** The day whose seal keeps this person from a decision; null: none. */
  readonly ownDate: CivilDate | null;
}

/** Both sides of a break, the payables near the title, and what a person can decide. */
export function BreakPage(props: BreakPageProps) {
  const context = usePage();
  const { found } = props;
  const { text } = context;
  const role = context.principal?.role ?? 'viewer';
  const isReviewer = mayUse(role, 'POST', '/break/resolve');
  const mayDecide = isReviewer && props.ownDate === null;
  const { title } = found;
  return (
    <>
      <div>
        <h1>{text(`matching.kinds.${found.kind}`)}</h1>
        <p>{text(`matching.help.${found.kind}`)}</p>
        {props.ownDate !== null && isReviewer && <OwnSeal date={props.ownDate} />}
        {!isReviewer && <p class="quiet">{text('matching.reviewersDecide')}</p>}
      </div>
      <div class="columns">
        <Card title={text('matching.onPlatform')}>
          <TitleSide title={title} payable={found.payable} />
        </Card>
        <Card title={text('matching.inErp')}>
          <PayableSide payable={found.payable} title={title} />
        </Card>
      </div>
      {title !== null && !title.isWithdrawn && (
        <Candidates {...props} title={title} mayDecide={mayDecide} />
      )}
      {mayDecide && <Resolve found={found} />}
    </>
  );
}

/** Whether both sides state a value, and not the same one. */
const differs = (one: string | null | undefined, other: string | null | undefined) =>
  one != null && other != null && one !== other;

function Compared(props: { readonly value: string; readonly isDifferent: boolean }) {
  return props.isDifferent ? <mark>{props.value}</mark> : <span>{props.value}</span>;
}

function TitleSide(props: {
  readonly title: BreakTitle | null;
  readonly payable: BreakPayable | null;
}) {
  const { title, payable } = props;
  const { text, formats } = usePage();
  if (title === null) return <p class="quiet">{text('matching.noTitle')}</p>;
  return (
    <dl class="fields">
      <dt>{text('matching.order')}</dt>
      <dd class="anywhere">
        <a href={`/titles/${title.id}`}>{title.orderUid}</a>
      </dd>
      <dt>{text('matching.date')}</dt>
      <dd>
        <DayLink date={title.acceptedDate} />
      </dd>
      <dt>{text('matching.dueDate')}</dt>
      <dd>
        <Compared
          value={title.dueDate === null ? '–' : formats.date(title.dueDate)}
          isDifferent={differs(title.dueDate, payable?.dueDate)}
        />
      </dd>
      <dt>{text('amounts.original_value')}</dt>
      <dd>
        <Compared
          value={formats.amount(title.value)}
          isDifferent={
            payable !== null && formats.amount(title.value) !== formats.amount(payable.openValue)
          }
        />
      </dd>
      <dt>{text('matching.supplier')}</dt>
      <dd>{title.supplier ?? '–'}</dd>
      <dt>{text('matching.status')}</dt>
      <dd>{text(title.isWithdrawn ? 'title.status.withdrawn' : 'title.status.current')}</dd>
    </dl>
  );
}

/** The fields of a payable. */
export function PayableSide(props: {
  readonly payable: BreakPayable | null;
  /** Absent: nothing is marked as different. */
  readonly title?: BreakTitle | null;
}) {
  const { payable, title = null } = props;
  const { text, formats } = usePage();
  if (payable === null) return <p class="quiet">{text('matching.noPayable')}</p>;
  const value = formats.amount(payable.openValue);
  const rows: readonly (readonly [string, string | null, boolean?])[] = [
    [text('matching.key'), payable.erpKey],
    [text('matching.company'), payable.company],
    [text('matching.document'), payable.document],
    [text('matching.instalment'), payable.instalment],
    [text('matching.order'), payable.orderUid],
    [
      text('matching.dueDate'),
      payable.dueDate === null ? null : formats.date(payable.dueDate),
      differs(payable.dueDate, title?.dueDate),
    ],
    [text('matching.openValue'), value, title !== null && formats.amount(title.value) !== value],
    [text('matching.supplier'), payable.supplier],
    [text('matching.status'), text.find(`matching.statuses.${payable.status}`) ?? payable.status],
    ...(payable.payee === null
      ? []
      : [[text('matching.payee'), text(`matching.payees.${payable.payee}`)] as const]),
  ];
  return (
    <dl class="fields">
      {rows.map(([name, shown, isDifferent = false]) => [
        <dt key={name}>{name}</dt>,
        <dd key={`${name} value`} class="anywhere">
          <Compared value={shown ?? '–'} isDifferent={isDifferent} />
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
  return (
    <Card title={text('matching.candidates')}>
      <p class="quiet">
        {candidates.length === 0
          ? text('matching.candidatesNone')
          : text('matching.candidatesHelp')}
      </p>
      {candidates.length > 0 && (
        <DataTable
          label={text('matching.candidates')}
          heads={[
            text('matching.key'),
            text('matching.document'),
            text('matching.dueDate'),
            right(text('matching.openValue')),
            text('matching.common'),
            ...(props.mayDecide ? [text('matching.matchHere')] : []),
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
                  same.sameOrder ? text('matching.sameOrder') : null,
                  same.sameValue ? text('matching.sameValue') : null,
                  same.sameDue ? text('matching.sameDue') : null,
                ]
                  .filter((word) => word !== null)
                  .join(', ')}
              </td>
              {props.mayDecide && (
                <td>
                  <Disclosure label={text('matching.matchHere')}>
                    <ActionForm action="/break/match">
                      <input type="hidden" name="title" value={String(props.title.id)} />
                      <input type="hidden" name="date" value={props.title.acceptedDate} />
                      <input type="hidden" name="payable" value={payable.erpKey} />
                      <ReasonField />
                      <Submit class="primary">
                        {text('matching.matchWith', { key: payable.erpKey })}
                      </Submit>
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
    <Field label={text('matching.reason')}>
      <input name="reason" required maxLength={500} />
    </Field>
  );
}

/** The code and the reason of a decision about breaks, and the button that resolves them. */
export function ResolveForm(props: {
  readonly title: string;
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}) {
  const { text } = usePage();
  return (
    <Card title={props.title}>
      <p class="quiet">{text('matching.resolveHelp')}</p>
      <ActionForm action={props.action}>
        {props.fields.map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <Field label={text('matching.code')}>
          <select name="code">
            <Options
              values={BREAK_CODES}
              chosen="corrected"
              text={(code) => text(`matching.codes.${code}`)}
            />
          </select>
        </Field>
        <ReasonField />
        <Submit class="primary">{text('matching.resolve')}</Submit>
      </ActionForm>
    </Card>
  );
}

function Resolve({ found }: { readonly found: Break }) {
  const { text } = usePage();
  const { kind, title, payable, ground } = found;
  const fields: [string, string][] = [
    ['kind', kind],
    ...(title === null
      ? []
      : ([
          ['title', String(title.id)],
          ['date', title.acceptedDate],
        ] as [string, string][])),
    ...(payable === null ? [] : ([['payable', payable.erpKey]] as [string, string][])),
    ['ground', ground],
  ];
  return <ResolveForm title={text('matching.resolve')} action="/break/resolve" fields={fields} />;
}
