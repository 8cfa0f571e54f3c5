import { ConfigError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { newestContentVersion } from './title.ts';

/**
 * Returns the version of a date's content hashes.
 * @throws ConfigError for an unknown version, with which every title of the date would count as changed
 */
export function requireKnownVersion(date: CivilDate, version: number): number {
  if (version <= newestContentVersion()) return version;
  throw new ConfigError([
    `DATABASE_URL: a newer version of this program has written ${date}; run that one`,
  ]);
}
