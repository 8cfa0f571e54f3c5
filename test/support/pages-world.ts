import type { ConsoleParts } from '../../src/console/shell/console-parts.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import { openConsole } from './console-client.ts';
import { forFile } from './for-tests.ts';
import { type PullWorld, worldOfFile } from './pull-world.ts';

/** For the tests of a file: a pull world, its console, and a user of each role. */
export function pagesForFile(parts: Partial<ConsoleParts> = {}) {
  const world = worldOfFile();
  const console = forFile(() => openConsole(world.database, parts));
  return {
    world,
    console,
    viewer: forFile(() => console.as('viewer', 'vera')),
    reviewer: forFile(() => console.as('reviewer', 'rita')),
    operator: forFile(() => console.as('operator', 'otto')),
  };
}

/** The newest entry of the audit log, or the newest of those. */
export const lastAudit = ({ database }: PullWorld, where: Prisma.AuditEntryWhereInput = {}) =>
  database.prisma.auditEntry.findFirst({ where, orderBy: { id: 'desc' } });
