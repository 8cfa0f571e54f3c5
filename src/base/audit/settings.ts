/** The audit log as the memory of the settings that decide what is held, signed off and booked. */
import type { Database } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import { recordAudit } from './audit.ts';

/** The values by the names of their variables. */
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
