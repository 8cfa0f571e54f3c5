// Generates the Prisma client without Prisma's schema engine: its binary is downloaded at install
// time, which fails in a closed network, and generating a client never runs it. Naming any existing
// program stops the download; nothing executes it.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status, stderr } = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', ...process.env },
});
if (status !== 0) process.stderr.write(stderr ?? 'prisma could not be started\n');
process.exit(status ?? 1);
