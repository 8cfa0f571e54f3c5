/**
 * Settings for made-up days, which vary in size, value and dates beyond what is plausible: no response is held for
 * its plausibility, and no finding keeps a day in the state `attention`. The tests of the limits and of the checks
 * do not use these settings.
 */
export const ANY_DAY_ENVIRONMENT = {
  PLAUSIBILITY: 'off',
  CHECK_SEVERITIES: [
    'due_before_acceptance',
    'value_not_positive',
    'tax_id_invalid',
    'agent_is_party',
    'equal_on_two_dates',
    'unit_jump',
  ]
    .map((code) => `${code}=info`)
    .join(','),
} as const;
