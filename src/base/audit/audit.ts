import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import type { CivilDate } from '../values/business-day.ts';

/** The person who makes a decision, and the reason. The audit log keeps both. */
export interface Decision {
  /** As the audit log names the person. */
  readonly by: string;
  readonly reason: string;
}

/**
 * What an entry can be about, and what an entry of a date means for its sign-off. The console has a text for each.
 * - `decision`: the person decided about the date, and a second person has to sign it
 * - `event`: a person signs the date, not the program
 * - `look`: the entry decides nothing
 */
const AUDIT_ACTIONS = {
  'account_change.confirm': 'decision',
  'account_change.refuse': 'decision',
  'account_change.return': 'event',
  'account_change.reveal': 'look',
  'agent.confirm': 'event',
  'agent.end': 'event',
  'backfill.cancel': 'event',
  'backfill.create': 'event',
  'balance.import': 'event',
  'bookings.consumer': 'event',
  'bookings.difference': 'decision',
  'bookings.export': 'look',
  'bookings.receipts': 'decision',
  'bookings.start': 'event',
  'break.reopen': 'decision',
  'break.resolve': 'decision',
  'company.confirm': 'event',
  'company.end': 'event',
  'database.restored': 'event',
  'day.reopen': 'event',
  'day.sign_off': 'event',
  'drift.acknowledge': 'event',
  export: 'look',
  'field.promote': 'event',
  'findings.acknowledge': 'decision',
  'findings.resolve': 'decision',
  'key.add': 'event',
  'key.revoke': 'event',
  'holiday.confirm': 'event',
  'holiday.end': 'event',
  'list.export': 'look',
  'match.make': 'decision',
  'match.undo': 'decision',
  'month.evidence': 'event',
  'month.seal': 'event',
  'party.erase': 'event',
  'party.erased': 'event',
  'party.lift': 'event',
  'payables.import': 'event',
  'provider.reveal': 'look',
  'providers.import': 'event',
  'providers.invalid': 'event',
  'providers.push': 'event',
  'pull.release': 'decision',
  'pull.request': 'look',
  'rejects.accept': 'decision',
  'rejects.reveal': 'look',
  'restated.export': 'look',
  'retention.begin': 'event',
  'retention.end': 'event',
  'rules.confirm': 'event',
  'schedule.export': 'look',
  'schedule.pause': 'event',
  'schedule.resume': 'event',
  'schedule.reveal': 'look',
  'session.end': 'event',
  'session.end_others': 'event',
  'session.limited': 'event',
  'session.refused': 'event',
  'session.refused_account': 'event',
  'session.start': 'event',
  'settings.change': 'event',
  'start_date.set': 'event',
  'title.reveal': 'look',
  'user.add': 'event',
  'user.bind': 'event',
  'user.change': 'event',
  'user.link': 'event',
  'user.own_password': 'event',
  'user.password': 'event',
  'user.recovery_code': 'event',
  'user.second_factor': 'event',
} as const satisfies Readonly<Record<string, 'decision' | 'event' | 'look'>>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

export const actionsOf = (...kinds: readonly ('decision' | 'event' | 'look')[]): string[] =>
  Object.entries(AUDIT_ACTIONS).flatMap(([action, kind]) => (kinds.includes(kind) ? action : []));

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
