import type { Database } from '../../database/database.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { OidcClient } from '../access/oidc-client.ts';

/** What the pages and the API work with. */
export interface ConsoleParts {
  readonly database: Database;
  readonly logger: Logger;
  /** Of the package. */
  readonly version: string;
  /** Decides which dates are over, and how instants are written. */
  readonly timeZone: string;
  /** Whether who decided about a day may not sign it off. */
  readonly fourEyes: boolean;
  /** Where browsers find the console; null: where it listens. */
  readonly publicUrl: URL | null;
  /** Null: people sign in with passwords alone. */
  readonly oidc: OidcClient | null;
  /** Has a worker begin with a pull at once; when that fails, the planner finds the pull anyway. */
  readonly wake: (pullId: bigint) => Promise<void>;
  /** Has backfills planned at once. */
  readonly plan: () => void;
  /** Replaced in tests. */
  readonly now?: () => Date;
}
