// bench/ measures our pull, end to end and with all its guarantees, against the limit: what
// PostgreSQL's own loader does with rows that were parsed beforehand. Both run against the same
// embedded server, in processes of their own, interleaved, each from a clean database.
//
//   options, cases              what is measured
//   suite, measure              the order of things; one measured run
//   render-process, answer-files, row-renderer, byte-file   the data, rendered before any clock starts
//   sandbox-process             the platform
//   engine, pull-process, statement-times   our side
//   limit, limit-process        the limit
//   meter, process-cpu, server  what it cost: the worker's side, the database's
//   tables, verify              whether both sides did what they should
//   report, profile             the figures
//
// It measures dist/, so build first: `npm run bench` does.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { killChildren } from './child.mjs';
import { parseOptions, USAGE } from './options.mjs';
import { renderProfile, renderTable, summarise } from './report.mjs';
import { startServer } from './server.mjs';
import { runSuite } from './suite.mjs';

/** @import { Server } from './server.mjs' */
/** @import { SummarisedResult } from './report.mjs' */

const tell = (/** @type {string} */ line) => process.stderr.write(`${line}\n`);

async function main() {
  const options = readOptions();
  if (options === null) return;
  const directory = await mkdtemp(join(tmpdir(), 'conciliation-bench-'));
  // Under root the server runs as another user, who has to reach its folder.
  await chmod(directory, 0o755);
  /** @type {Server | undefined} */
  let server;
  try {
    server = await startServer(join(directory, 'data'));
    const machine = await describeMachine(server);
    tell(`${machine.cpus} × ${machine.cpu}, Node ${machine.node}, PostgreSQL ${machine.postgres}`);
    const run = runSuite({ server, options, directory, tell });
    const results = (await Promise.race([run, interruption()])).map((result) => ({
      ...result,
      summary: summarise(result),
    }));
    process.stdout.write(
      options.json ? `${JSON.stringify({ machine, results }, null, 2)}\n` : toText(results),
    );
  } finally {
    await killChildren();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function readOptions() {
  try {
    const options = parseOptions(process.argv.slice(2));
    if (options === null) process.stdout.write(USAGE);
    return options;
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return null;
  }
}

/** @returns {Promise<never>} rejects when the process is told to end */
function interruption() {
  return new Promise((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.once(signal, () => reject(new Error(`interrupted by ${signal}`)));
    }
  });
}

/** @param {Server} server */
async function describeMachine(server) {
  return {
    cpus: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryBytes: totalmem(),
    loadAverage: loadavg(),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    postgres: await server.version(),
  };
}

/** @param {SummarisedResult[]} results */
function toText(results) {
  const profiles = results.flatMap(({ title, size, profile }) =>
    profile === null ? [] : `\n${renderProfile(title, size, profile)}\n`,
  );
  return `${renderTable(results)}\n${profiles.join('')}`;
}

await main().catch((error) => {
  process.stderr.write(`${error.stack ?? error}\n`);
  process.exitCode = 1;
});
