import type { CheckRules } from '../checks/check-day.sql.ts';
import type { Config } from '../config/config.ts';

/** The checks as configured. */
export function checkRules({ checkSeverities, feeFactor }: Config): CheckRules {
  return { severities: checkSeverities, feeFactor };
}
