/** The checks of the titles of a day: codes, versions and severities. docs/console.md gives the reason for each. */

export const CHECK_SEVERITIES = ['off', 'info', 'review'] as const;
/** `off`: the check does not run. `review`: an open finding keeps the day in the state `attention`. */
type CheckSeverity = (typeof CHECK_SEVERITIES)[number];
export type FindingSeverity = Exclude<CheckSeverity, 'off'>;

/** By code: the version of the rule, and the severity unless CHECK_SEVERITIES names another one. */
export const CHECKS = {
  due_before_acceptance: { version: 1, severity: 'review' },
  value_not_positive: { version: 1, severity: 'review' },
  tax_id_invalid: { version: 1, severity: 'review' },
  agent_is_party: { version: 1, severity: 'review' },
  equal_in_day: { version: 1, severity: 'info' },
  equal_on_two_dates: { version: 2, severity: 'review' },
  unit_jump: { version: 2, severity: 'review' },
} as const satisfies Readonly<
  Record<string, { readonly version: number; readonly severity: FindingSeverity }>
>;
export type CheckCode = keyof typeof CHECKS;
export const CHECK_CODES = Object.keys(CHECKS) as CheckCode[];

export type CheckSeverities = Readonly<Record<CheckCode, CheckSeverity>>;

export const DEFAULT_SEVERITIES: CheckSeverities = withDefaults({});

function withDefaults(chosen: Partial<CheckSeverities>): CheckSeverities {
  const defaults = CHECK_CODES.map((code) => [code, CHECKS[code].severity] as const);
  return { ...(Object.fromEntries(defaults) as CheckSeverities), ...chosen };
}

/**
 * Reads `tax_id_invalid=info,equal_in_day=off`. A check that is not named has its default.
 * @returns null where the text has another form, an unknown check or a check twice
 */
export function parseCheckSeverities(text: string): CheckSeverities | null {
  const chosen: { -readonly [code in CheckCode]?: CheckSeverity } = {};
  for (const entry of text.split(',')) {
    const [name, word, ...rest] = entry.split('=').map((part) => part.trim());
    const code = CHECK_CODES.find((known) => known === name);
    const severity = CHECK_SEVERITIES.find((known) => known === word);
    if (code === undefined || severity === undefined || rest.length > 0 || code in chosen) {
      return null;
    }
    chosen[code] = severity;
  }
  return withDefaults(chosen);
}
