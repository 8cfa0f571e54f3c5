import type { ComponentChildren } from 'preact';
import type { TProperties } from 'typebox';
import type { CivilDate } from '../../../base/values/business-day.ts';
import { words } from '../../../console/api/schema-parts.ts';
import { type Action, reason } from '../../../console/declare.tsx';
import { type PageContext, usePage } from '../../../console/shell/page-context.ts';
import { Card } from '../../../console/shell/parts.tsx';
import { BREAK_CODES } from '../break-list.sql.ts';

/** What a person states with a decision about breaks and matches. */
export const DECISION = { code: words(BREAK_CODES), reason };
const codes = BREAK_CODES.map((code) => [code, `matching.codes.${code}`] as const);
export const DECISION_FIELDS = { code: { label: 'matching.code', choices: codes } } as const;

/** The due dates of the title and of the payable, once where they are equal. Null: neither is stated. */
export const duesOf = (
  dues: readonly (CivilDate | null | undefined)[],
  { formats }: Pick<PageContext, 'formats'>,
): string | null =>
  [...new Set(dues)].flatMap((due) => (due == null ? [] : formats.date(due))).join(' → ') || null;

/** A decision about breaks, with its code and reason, for those who may make it. */
export function DecisionCard<Input extends TProperties>(props: {
  readonly title: string;
  readonly help: string;
  readonly action: Action<Input>;
  readonly values: NonNullable<Parameters<Action<Input>['Form']>[0]['values']>;
  readonly button: string;
  /** Of the form, for fields outside of it. */
  readonly id?: string;
  readonly children?: ComponentChildren;
}) {
  const { title, help, action, children, ...form } = props;
  const page = usePage();
  return !action.isOffered(page) ? null : (
    <Card title={title}>
      <p class="quiet">{help}</p>
      <action.Form {...form} look="primary">
        {children}
      </action.Form>
    </Card>
  );
}
