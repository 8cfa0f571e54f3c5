import { type Environment, readConfig } from '../../../src/base/config/config.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';

/** Returns the problems for which the configuration is refused; none: it is taken. */
export function problemsOf(
  environment: Environment,
  needs: Parameters<typeof readConfig>[1] = { platform: false },
): readonly string[] {
  try {
    readConfig(environment, needs);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
