import {
  CHECK_CODES,
  type CheckSeverities,
  DEFAULT_SEVERITIES,
} from '../../src/base/values/checks.ts';
import type { CheckRules } from '../../src/features/checks/check-day.sql.ts';

/** The checks as they are without configuration. */
export const DEFAULT_RULES: CheckRules = { severities: DEFAULT_SEVERITIES };

/** For made-up days: no finding keeps a day from being reconciled. */
export const ANY_DAY_RULES: CheckRules = {
  severities: Object.fromEntries(CHECK_CODES.map((code) => [code, 'info'])) as CheckSeverities,
};
