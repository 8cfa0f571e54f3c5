import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import { namesIn, type TextKey } from '../texts/texts.ts';
import type { CivilDate } from '../values/business-day.ts';

/** The person who makes a decision, and the reason. The audit log keeps both. */
export interface Decision {
  /** As the audit log names the person. */
  readonly by: string;
  readonly reason: string;
}

type ActionOf<Key> = Key extends `audit.actions.${infer Action}` ? Action : never;
/** What an entry can be about. The locales have a text for each. */
export type AuditAction = ActionOf<TextKey>;

/**
 * What an entry of a date means for its sign-off.
 * - `decision`: the person decided about the date, and a second person has to sign it
 * - `event`, as all actions that are not listed: a person signs the date, not the program. Of matches, resolutions and
 *   confirmations, the rows say who decided what is in force
 * - `look`: the entry decides nothing
 */
const ACTION_KINDS: { readonly [Action in AuditAction]?: 'decision' | 'look' } = {
  'account_change.confirm': 'decision',
  'account_change.refuse': 'decision',
  'account_change.reveal': 'look',
  'bookings.difference': 'decision',
  'bookings.export': 'look',
  'bookings.receipts': 'decision',
  export: 'look',
  'findings.acknowledge': 'decision',
  'findings.resolve': 'decision',
  'list.export': 'look',
  'provider.reveal': 'look',
  'pull.release': 'decision',
  'pull.request': 'look',
  'rejects.accept': 'decision',
  'rejects.reveal': 'look',
  'restated.export': 'look',
  'schedule.reveal': 'look',
  'title.reveal': 'look',
};

export const actionsOf = (...kinds: readonly ('decision' | 'event' | 'look')[]): string[] =>
  namesIn('audit.actions').filter((action) =>
    kinds.includes(ACTION_KINDS[action as AuditAction] ?? 'event'),
  );

export interface AuditRecord {
  readonly actor: string;
  readonly action: AuditAction;
  readonly date?: CivilDate | null;
  readonly pullId?: bigint | null;
  readonly reason?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Writes an entry of the audit log. An action in a transaction passes that transaction. */
export async function recordAudit(
  client: Pick<Transaction, 'auditEntry'>,
  { actor, action, date = null, pullId = null, reason = null, details }: AuditRecord,
): Promise<void> {
  const data = { actor, action, date, pullId, reason };
  await client.auditEntry.create({
    data: details === undefined ? data : { ...data, details: details as Prisma.InputJsonObject },
    select: { id: true },
  });
}

/** The settings that decide what is held, signed off and booked: the values by the names of their variables. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Leaves an entry of the audit log if the settings of this start differ from those of the newest entry. There is one
 * entry if several processes start at once.
 * @returns the changes; none at the first start
 */
export function recordSettings(
  database: Database,
  settings: Settings,
  host: string,
): Promise<readonly string[]> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'planner');
    const newest = await tx.auditEntry.findFirst({
      where: { action: 'settings.change' },
      orderBy: { id: 'desc' },
      select: { details: true },
    });
    const before = (newest?.details as { settings?: Settings } | undefined)?.settings ?? {};
    const changes = Object.entries(settings)
      .filter(([name, value]) => before[name] !== value)
      .map(([name, value]) =>
        before[name] === undefined ? `${name} ${value}` : `${name} ${before[name]} → ${value}`,
      );
    if (changes.length === 0) return [];
    const details = { changes, host, settings };
    await recordAudit(tx, { actor: 'service', action: 'settings.change', details });
    return newest === null ? [] : changes;
  });
}
