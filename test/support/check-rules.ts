import { CHECK_CODES, type CheckSeverities } from '../../src/base/values/checks.ts';

/**
 * For made-up days, which vary in size, value and dates beyond what is plausible: no finding keeps a day from being
 * reconciled. The tests of the limits and of the checks do not use these settings.
 */
export const ANY_DAY_RULES = Object.fromEntries(
  CHECK_CODES.map((code) => [code, 'info']),
) as CheckSeverities;

/** The same for a process, which also holds no response for its plausibility. */
export const ANY_DAY_ENVIRONMENT = {
  PLAUSIBILITY: 'off',
  CHECK_SEVERITIES: CHECK_CODES.map((code) => `${code}=info`).join(','),
};
