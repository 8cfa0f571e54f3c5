import { Type } from 'typebox';
import { declareAction, declarePage, reason } from '../../../console/declare.tsx';
import { type Column, ListTable } from '../../../console/list/columns.tsx';
import { actorOf } from '../../../console/shell/guard.ts';
import { Field } from '../../../console/shell/layout.tsx';
import { Card, Submit } from '../../../console/shell/parts.tsx';
import { REVIEW } from '../../../console/shell/route-access.ts';
import { MAX_MOVE_DAYS } from '../../calendar/business-days.sql.ts';
import {
  type MatchingRules,
  type RuleEffect,
  readRules,
  setRules,
  tryRules,
} from '../confirmations.sql.ts';

const PATH = '/matching-rules';
const RULES = {
  dueDays: Type.Integer({ minimum: 0, maximum: MAX_MOVE_DAYS }),
  valueTolerance: Type.String({ pattern: '^\\d{1,6}([.]\\d{1,2})?$' }),
};
const TRIED = Type.Partial(Type.Object(RULES)).properties;

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
  input: TRIED,
  read: async ({ database, timeZone }, input: Partial<MatchingRules>, request) => {
    const present = await readRules(database);
    const { dueDays = present.dueDays, valueTolerance = present.valueTolerance } = input;
    const rules = { dueDays, valueTolerance };
    const isTried = input.dueDays !== undefined || input.valueTolerance !== undefined;
    const by = actorOf(request);
    return { rules, effects: isTried ? await tryRules(database, rules, { by, timeZone }) : null };
  },
  title: ({ text }) => text('matching.rulesTitle'),
  body: ({ rules, effects }, { text }) => {
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
              <input type="number" name="valueTolerance" value={rules.valueTolerance} step="0.01" />
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
                closes: countOf('closes'),
                proposed: countOf('proposed'),
                ambiguous: countOf('ambiguous'),
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
