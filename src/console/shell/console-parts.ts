import type { FastifyInstance } from 'fastify';
import type { Config } from '../../base/config/config.ts';
import type { Database } from '../../base/database/database.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import type { Loop } from '../../base/runtime/timing.ts';
import { type CivilDate, dateIn } from '../../base/values/business-day.ts';
import type { EngineFeature } from '../../core/merge/engine-hooks.ts';
import type { OidcClient } from '../access/oidc-client.ts';
import type { AlertPolicy } from '../alert-entry.ts';

export type AddRoutes = (server: FastifyInstance, parts: ConsoleParts) => void;

/** A part of the product with its own pages, operations and hooks into the engine. `app/features.ts` lists the features. */
export interface Feature extends EngineFeature {
  readonly pages?: readonly AddRoutes[];
  readonly actions?: readonly { readonly add: AddRoutes }[];
  /** Lists that make a page and an operation of `/api`. */
  readonly lists?: readonly { readonly addPage: AddRoutes; readonly addApi: AddRoutes }[];
  readonly api?: readonly AddRoutes[];
  /** Starts what a scheduler does again and again. */
  readonly loops?: (parts: LoopParts) => readonly Loop[];
}

export interface LoopParts<Setting extends keyof Config = keyof Config> {
  readonly database: Database;
  readonly logger: Logger;
  readonly config: Pick<Config, Setting>;
  /** Replaced in tests. */
  readonly everyMs?: number | undefined;
}

/** The parts that the pages and the API use. The time zone is that of shown instants, too. */
export interface ConsoleParts extends AlertPolicy {
  readonly database: Database;
  readonly logger: Logger;
  readonly features: readonly Feature[];
  readonly version: string;
  /** Whether a user who decided about a day may not sign it off. */
  readonly fourEyes: boolean;
  /** BUSINESS_DAY_RULE. Absent: following. */
  readonly businessDayRule?: 'following' | 'preceding';
  /** The first accepted date whose seals release bookings. Absent or null: seals release nothing. */
  readonly bookingsFrom?: CivilDate | null;
  /** Whether the checks have to run on the content of a day before its sign-off. Absent: no. */
  readonly requiresChecks?: boolean;
  /** Whether users who sign in with a password have to set up a second factor. */
  readonly requiresSecondFactor: boolean;
  /** The address of the console for browsers; null: the address on which it listens. */
  readonly publicUrl: URL | null;
  /** Null: passwords are the only way to sign in. */
  readonly oidc: OidcClient | null;
  /** Tells a worker to start a pull. After a failure the planner finds the pull. */
  readonly wake: (pullId: bigint) => Promise<void>;
  /** Makes the planner run now. */
  readonly plan: () => void;
  /** Replaced in tests. */
  readonly now?: () => Date;
}

export const todayOf = ({ timeZone, now }: ConsoleParts): CivilDate =>
  dateIn(timeZone, now?.() ?? new Date());

/** A century. */
const NEVER_STALE_HOURS = 876_000;

export const payablesMaxAge = ({ payablesMaxAgeHours }: ConsoleParts): number =>
  payablesMaxAgeHours ?? NEVER_STALE_HOURS;
