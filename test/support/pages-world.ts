import type { ConsoleParts } from '../../src/console/shell/console-parts.ts';
import { type ConsoleClient, type ConsoleWorld, openConsole } from './console-client.ts';
import { forFile } from './for-tests.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

/** A pull world, its console, and a user of each role. */
export interface PagesWorld {
  readonly world: PullWorld;
  readonly console: ConsoleWorld;
  readonly viewer: ConsoleClient;
  readonly reviewer: ConsoleClient;
  readonly operator: ConsoleClient;
}

export async function openPagesWorld(parts: Partial<ConsoleParts> = {}): Promise<PagesWorld> {
  const world = await openPullWorld();
  const console = await openConsole(world.database, parts);
  return {
    world,
    console,
    viewer: await console.as('viewer', 'vera'),
    reviewer: await console.as('reviewer', 'rita'),
    operator: await console.as('operator', 'otto'),
  };
}

/** The same for the tests of a file. */
export function pagesForFile(parts: Partial<ConsoleParts> = {}): PagesWorld {
  const world = forFile(openPullWorld);
  const console = forFile(() => openConsole(world.database, parts));
  return {
    world,
    console,
    viewer: forFile(() => console.as('viewer', 'vera')),
    reviewer: forFile(() => console.as('reviewer', 'rita')),
    operator: forFile(() => console.as('operator', 'otto')),
  };
}

/** The newest entry of the audit log. */
export async function lastAudit({ database }: PullWorld) {
  const [entry] = await database.prisma.auditEntry.findMany({ orderBy: { id: 'desc' }, take: 1 });
  return entry;
}
