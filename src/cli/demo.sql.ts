import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '../app/features.ts';
import { openPlatform, openPulls, openStaging } from '../app/parts.ts';
import { ROLES, startService } from '../app/service.ts';
import type { Config, Environment } from '../base/config/config.ts';
import type { Database } from '../base/database/database.ts';
import { newToken } from '../base/runtime/secrets.ts';
import { addDays, type CivilDate, datesBetween } from '../base/values/business-day.ts';
import { createApiKey } from '../console/access/api-keys.sql.ts';
import { addUser, consumeLink, createLink } from '../console/access/console-users.sql.ts';
import { hashPassword } from '../console/access/password.ts';
import { createPull, readCheckpoint } from '../core/ledger/pull-requests.sql.ts';
import type { PullReport } from '../core/merge/merge.sql.ts';
import type { PullParts } from '../core/work/run-pull.ts';
import {
  type AcceptedTitle,
  type Sandbox,
  startSandbox,
  startSyntheticErp,
  syntheticPayables,
} from '../demo/sandbox.ts';
import { syntheticName } from '../demo/synthetic-titles.ts';
import { setConsumer } from '../features/bookings/consumers.ts';
import { checkDays } from '../features/checks/check-day.sql.ts';
import { promoteField } from '../features/fields/promoted-fields.sql.ts';
import { importPayableFile } from '../features/matching/payables/payable-import.sql.ts';
import { runMatching } from '../features/matching/run-matching.sql.ts';
import { readLedgerDays } from '../features/review/ledger-days.sql.ts';
import { type CommandResult, type CommandRun, command, EXIT } from './command.ts';
import { daysTable } from './ledger.sql.ts';
import { pullToEnd } from './pulls.ts';

const DEMO_DAYS = 14;

const demo = command({
  name: 'demo',
  does: 'show the product without any configuration',
  words: (line) => line.option('--once', 'end after the pulls and do not start the service'),
  help: `Starts a separate PostgreSQL under DATA_DIR (default .data/demo) and a sandbox platform, pulls the last ${DEMO_DAYS}
days and prints them. Then the service and the sandbox run until Ctrl-C, and the command prints two users of the
console with their passwords: a reviewer, who decides and signs days off, and an administrator, who manages users and
keys. A made-up ERP supplies a payable for most titles, and the console shows the breaks. After a day is signed off,
the ERP posts the bookings of the day. Delete the folder to start over.`,
  needs: { platform: false, environment: demoEnvironment() },
  async run(run, { once: isOnce = false }) {
    const sandbox = await startSandbox();
    try {
      return await show(run, sandbox, isOnce);
    } finally {
      await sandbox.close();
    }
  },
});

export const COMMANDS = [demo];

/**
 * The demo uses only its own parts, not a database or platform named in the environment, and sends no
 * alerts about made-up titles.
 */
function demoEnvironment(): Environment {
  const others = Object.entries(process.env).filter(
    ([name]) => !/^(ALERT_|AUTO_|BOOKINGS_|SMTP_|DIGEST$|DATABASE_)/.test(name),
  );
  return {
    ...Object.fromEntries(others),
    DATA_DIR: process.env['DATA_DIR'] || join('.data', 'demo'),
  };
}

async function show(run: CommandRun, sandbox: Sandbox, isOnce: boolean): Promise<CommandResult> {
  const to = addDays(run.today, -1);
  const from = addDays(to, 1 - DEMO_DAYS);
  const config = {
    ...run.config,
    startDate: from,
    platformBaseUrl: new URL(sandbox.baseUrl),
    platformToken: { secret: sandbox.token, secretFile: null },
  };
  const staging = await openStaging(config, run.logger);
  const platform = openPlatform(config);
  try {
    const parts = await openPulls(config, run.logger, staging, { platform, features: FEATURES });
    await nameInvoices(staging.database);
    const pulls = await pullDates(run, parts, datesBetween(from, to));
    // The matching has to see the content of the days after the checks. Otherwise no day is released at first.
    await checkDays(staging.database, config.checkSeverities, run.signal);
    // The first date of the folder: BOOKINGS_FROM does not move past the days that an earlier run has released.
    const bookingsFrom = (await readCheckpoint(staging.database))?.startDate ?? from;
    const path = join(config.dataDir, 'payables.json');
    await importPayables(staging.database, { path, bookingsFrom }, run.signal);
    await writeSuppliers(staging.database);
    const days = await readLedgerDays(staging.database, { from, to }, to);
    const reconciled = days.filter((day) => day.state === 'reconciled').length;
    const result: CommandResult = {
      document: { days, pulls },
      text: `${daysTable(days, config.timezone)}\n\n${reconciled} of ${days.length} days are reconciled: their titles equal the platform's titles exactly.`,
      exit: reconciled === days.length ? EXIT.done : EXIT.needsPerson,
    };
    if (isOnce) return result;
    const reviewerPassword = await giveUser(staging.database, 'reviewer');
    const adminPassword = await giveUser(staging.database, 'admin');
    const erpKey = await createDemoConsumer(staging.database);
    await platform.close();
    await staging.close();
    const { dataDir } = config;
    const tokenFile = join(dataDir, 'sandbox-token');
    writeFileSync(tokenFile, sandbox.token, { mode: 0o600 });
    const announce = (consoleUrl: string) => `${result.text}

The console is at ${consoleUrl}. Sign in as one of these users, and as the other one in a private window:

  reviewer   password ${reviewerPassword}   decides and signs days off
  admin      password ${adminPassword}   manages users and keys

Sign a day off as the reviewer. The made-up ERP posts the titles of the day, and the page Bookings has the documents.
A day about which the reviewer decided needs a second reviewer for its sign-off, whom the administrator adds.
The supplier finance note as of yesterday is at ${consoleUrl}/disclosure?end=${to}
The sandbox states the invoice of a title without documenting it, and ${consoleUrl}/fields names it.
Everything runs until Ctrl-C. In another terminal, in this folder:

  export DATA_DIR=${dataDir} PLATFORM_BASE_URL=${sandbox.baseUrl} PLATFORM_TOKEN_FILE=${tokenFile}
  node bin/conciliation.js pull ${to}       # again: nothing changes
  node bin/conciliation.js status
  node bin/conciliation.js export --from ${to} --to ${to} --format csv --out titles.csv
`;
    await serve(run, { ...config, bookingsFrom }, erpKey, announce);
    return { ...result, text: '' };
  } finally {
    await platform.close();
    await staging.close();
  }
}

/** No user can have this name. Users make no links for themselves. */
const DEMO_ACTOR = 'conciliation demo';

/** The sandbox states the invoice of each title without documenting it. The days of the demo have it as content. */
async function nameInvoices(database: Database): Promise<void> {
  if ((await database.prisma.promotedField.count()) > 0) return;
  const field = { name: 'invoice', path: 'documentNumber', role: 'document' } as const;
  await promoteField(database, field, { by: DEMO_ACTOR, reason: 'the invoice of the title' });
}

/**
 * Gives a user of the demo a new password, and returns the password.
 * @param name also the role of the user
 */
async function giveUser(database: Database, name: 'reviewer' | 'admin'): Promise<string> {
  const by = DEMO_ACTOR;
  const known = await database.prisma.consoleUser.count({ where: { name } });
  if (known === 0) await addUser(database, { name, role: name, by });
  const password = newToken().slice(0, 16);
  await consumeLink(
    database,
    await createLink(database, { name, by }),
    await hashPassword(password),
  );
  return password;
}

/** Runs the complete service and the made-up ERP, so that every button of the console works. */
async function serve(
  run: CommandRun,
  config: Config,
  erpKey: string,
  announce: (consoleUrl: string) => string,
): Promise<void> {
  const service = await startService({
    // Any free port by default, because port 8080 is often in use.
    config: { ...config, consolePort: process.env['CONSOLE_PORT'] ? config.consolePort : 0 },
    logger: run.logger,
    roles: new Set(ROLES),
  });
  const url = service.consoleUrl ?? '';
  const erp = startSyntheticErp({ url, key: erpKey });
  try {
    process.stdout.write(announce(url));
    if (!run.signal.aborted) await once(run.signal, 'abort');
  } finally {
    await erp.stop();
    await service.stop(0);
  }
}

async function pullDates(
  { progress, signal }: CommandRun,
  parts: PullParts,
  dates: readonly CivilDate[],
): Promise<PullReport[]> {
  const reports: PullReport[] = [];
  for (const date of dates) {
    progress.update(`pulling ${date}`);
    const request = { origin: 'manual', date, requestedBy: DEMO_ACTOR } as const;
    const pullId = await createPull(parts.database, request);
    const outcome = await pullToEnd(parts, pullId, signal, () => undefined);
    if (outcome.kind !== 'done') throw outcome.error;
    reports.push(outcome.report);
  }
  return reports;
}

/** Imports a snapshot of the made-up ERP for all titles, and matches the titles with the payables. */
async function importPayables(
  database: Database,
  { path, bookingsFrom }: { readonly path: string; readonly bookingsFrom: CivilDate },
  signal: AbortSignal,
): Promise<void> {
  const titles = await database.prisma.$queryRaw<(AcceptedTitle & { dueDate: CivilDate })[]>`
    SELECT order_uid AS "orderUid", occurrence, provider_external_id AS supplier,
           accepted_date::text AS "acceptedDate", anticipated_due_date::text AS "dueDate", original_value::text AS value
    FROM conciliation.title ORDER BY id`;
  const payables = syntheticPayables(titles);
  writeFileSync(path, JSON.stringify(payables), { mode: 0o600 });
  const file = { path, encoding: 'utf-8' } as const;
  await importPayableFile(database, file, {
    ...{ kind: 'snapshot', actor: DEMO_ACTOR, announced: payables.length },
    ...{ isDryRun: false, signal },
  });
  await runMatching(database, { by: DEMO_ACTOR, bookingsFrom });
}

/** Writes the suppliers of the titles as the made-up ERP has them. The service sends them to the sandbox. */
async function writeSuppliers({ prisma }: Database): Promise<void> {
  const suppliers = await prisma.$queryRaw<{ externalId: string; taxId: string }[]>`
    SELECT provider_external_id AS "externalId", min(provider_identification) AS "taxId"
    FROM conciliation.title WHERE provider_external_id IS NOT NULL AND provider_identification IS NOT NULL GROUP BY 1`;
  const data = suppliers.map(({ externalId, taxId: identificationNumber }) => ({
    ...{ externalId, identificationNumber, type: 'INDIVIDUAL', canAnticipate: true },
    name: syntheticName(externalId),
  }));
  await prisma.provider.createMany({ data, skipDuplicates: true });
}

/** Makes the made-up ERP of the demo the consumer `erp`, and returns its API key. */
async function createDemoConsumer(database: Database): Promise<string> {
  const { id: apiKeyId, key } = await createApiKey(database, {
    ...{ name: 'made-up ERP', user: 'admin', role: 'reviewer', scopes: ['export'], validDays: 1 },
    by: DEMO_ACTOR,
  });
  const consumer = { name: 'erp', databaseRole: null, buyers: [], apiKeyId };
  await setConsumer(database, consumer, DEMO_ACTOR);
  return key;
}
