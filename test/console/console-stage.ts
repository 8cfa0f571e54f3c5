import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { ROLES, type Service, startService } from '../../src/app/service.ts';
import { readConfig } from '../../src/base/config/config.ts';
import { type Database, openDatabase } from '../../src/base/database/database.ts';
import {
  addDays,
  type CivilDate,
  datesBetween,
  lastClosedDate,
} from '../../src/base/values/business-day.ts';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import { addUser, createLink } from '../../src/console/access/console-users.sql.ts';
import { readLedgerDay } from '../../src/features/review/ledger-days.sql.ts';
import { signOffDay } from '../../src/features/review/sign-off.sql.ts';
import { ANY_DAY_ENVIRONMENT } from '../support/any-day-environment.ts';
import { type CertifiedProvider, startCertifiedProvider } from '../support/certified-provider.ts';
import { createTestDatabase } from '../support/database.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { providerOf, writeProviders } from '../support/provider-rows.ts';
import { type Sandbox, startSandbox } from '../support/sandbox/sandbox.ts';
import { titleText } from '../support/titles.ts';

const TIME_ZONE = 'America/Sao_Paulo';
// Fewer dates than make a number of titles usual for a weekday: no response is held for its buyers.
const DAYS = 27;

/** The whole service on a database of its own, with the sandbox for a platform, and a month behind it. */
export interface ConsoleStage {
  readonly url: string;
  readonly database: Database;
  readonly sandbox: Sandbox;
  readonly provider: CertifiedProvider;
  /** Dates with a story each. */
  readonly dates: {
    /** Signed off, and to be restated by one cent. */
    readonly signed: CivilDate;
    /** Waits for a signature, with enough titles to be paged. */
    readonly open: CivilDate;
    /** Has a reject. */
    readonly attention: CivilDate;
    /** The platform has emptied it. */
    readonly held: CivilDate;
    /** Thirty titles; later responses have some that cannot be read. */
    readonly unreadable: CivilDate;
    readonly backfill: { readonly from: CivilDate; readonly to: CivilDate };
  };
  setTitles(date: CivilDate, texts: readonly string[]): void;
  /** Adds a person. @returns the path of the link to choose a password with */
  invite(name: string, role: ConsoleRole, email?: string): Promise<string>;
  close(): Promise<void>;
}

const NAMES = [
  'Banco Ipê S.A.',
  'Jatobá Securitizadora',
  'Araújo Factoring & Filhos',
  'Érica d’Ávila',
];

export async function openStage(): Promise<ConsoleStage> {
  const logger = pino({ level: 'silent' });
  const testDatabase = await createTestDatabase();
  const sandbox = await startSandbox({ seed: 'console', titlesPerDay: 40, restate: false });
  // Known beforehand, because the identity provider is told where to send browsers back to.
  const url = `http://127.0.0.1:${await freePort()}`;
  const provider = await startCertifiedProvider({ publicUrl: new URL(url) });
  const last = lastClosedDate(TIME_ZONE, new Date());
  const startDate = addDays(last, 1 - DAYS);
  const dates = {
    open: last,
    attention: addDays(last, -1),
    held: addDays(last, -2),
    unreadable: addDays(last, -3),
    signed: addDays(last, -5),
    backfill: { from: addDays(last, -20), to: addDays(last, -9) },
  };
  const title = (date: CivilDate, index: number, more: Parameters<typeof titleText>[0] = {}) =>
    titleText({
      uid: `PO-2026-${String(index).padStart(4, '0')}`,
      date,
      value: `${1_200 + index * 37}.${String(index % 100).padStart(2, '0')}`,
      name: NAMES[index % NAMES.length] ?? '',
      ...more,
    });
  const many = (date: CivilDate, count: number) =>
    Array.from({ length: count }, (_, index) => title(date, index + 1));
  sandbox.setDayTexts(dates.open, many(dates.open, 130));
  sandbox.setDayTexts(dates.attention, [
    ...many(dates.attention, 24),
    `{"order":{"uid":"PO-2026-9001"},"acceptedDate":"${dates.attention}","originalValue":"12,50"}`,
  ]);
  sandbox.setDayTexts(dates.held, many(dates.held, 36));
  sandbox.setDayTexts(dates.unreadable, many(dates.unreadable, 30));
  sandbox.setDayTexts(dates.signed, many(dates.signed, 42));

  const folder = await mkdtemp(join(tmpdir(), 'conciliation-console-'));
  const config = readConfig(
    {
      DATABASE_URL: testDatabase.url,
      DATA_DIR: folder,
      PLATFORM_BASE_URL: sandbox.baseUrl,
      PLATFORM_TOKEN: sandbox.issueToken(),
      ...ANY_DAY_ENVIRONMENT,
      START_DATE: startDate,
      // Not a minute of the day brings a second run or a sweep into the tests.
      PULL_CRON: '0 0 * * *',
      LOOKBACK_DAYS: '0',
      SWEEP_CRON: '0 0 29 2 *',
      CONSOLE_PORT: new URL(url).port,
      CONSOLE_PUBLIC_URL: url,
      OIDC_ISSUER_URL: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
    },
    { platform: true },
  );
  const service: Service = await startService({
    config,
    logger,
    roles: new Set(ROLES),
    overrides: { tickMs: 1_000, alerts: { intervalMs: 500 } },
  });
  const database = openDatabase({
    databaseUrl: testDatabase.url,
    applicationName: 'test',
    logger,
  });
  await vi.waitFor(
    async () => {
      const [{ merged } = { merged: 0 }] = await database.prisma.$queryRaw<{ merged: number }[]>`
        SELECT count(*)::int AS merged FROM conciliation.day
        WHERE last_pull_id IS NOT NULL AND date <= ${last}::date`;
      expect(merged).toBe(DAYS);
    },
    { timeout: PATIENCE_MS, interval: 500 },
  );
  for (const date of datesBetween(startDate, addDays(dates.unreadable, -1))) {
    const day = await readLedgerDay(database, date, last);
    if (date === addDays(dates.signed, 1)) continue;
    await signOffDay(database, date, {
      by: 'helena',
      reason: null,
      seenDigest: day?.contentDigest ?? '',
      fourEyes: true,
    });
  }
  await writeProviders(database, [
    providerOf(1, { externalId: 'P-1', name: 'Metalúrgica São João Indústria e Comércio Ltda' }),
    providerOf(2, { name: 'Érica d’Ávila' }),
    providerOf(3, { name: 'Sem telefone', phones: [{ number: '' }] }),
  ]);
  return {
    url: service.consoleUrl ?? '',
    database,
    sandbox,
    provider,
    dates,
    setTitles: (date, texts) => sandbox.setDayTexts(date, texts),
    async invite(name, role, email) {
      await addUser(database, { name, role, email: email ?? null, by: 'test' });
      const token = await createLink(database, {
        name,
        purpose: 'password',
        validMinutes: 30,
        by: 'test',
      });
      return `/link/${token}`;
    },
    async close() {
      await service.stop(0);
      await database.close();
      await sandbox.close();
      await provider.close();
      await testDatabase.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
