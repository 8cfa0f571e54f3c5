import { describe, expect, test } from 'vitest';
import {
  addDays,
  type CivilDate,
  datesBetween,
  toCivilDate,
} from '../../../src/base/values/business-day.ts';
import { correctStartDate } from '../../../src/cli/ledger.sql.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { readLedgerDay } from '../../../src/features/review/ledger-days.sql.ts';
import {
  type CivilMonth,
  readMonths,
  sealMonth,
} from '../../../src/features/review/months/month-seal.sql.ts';
import { reopenDay } from '../../../src/features/review/sign-off.sql.ts';
import { alterationsOf } from '../../../src/features/verify/alterations.sql.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { hiddenIn, openConsole } from '../../support/console-client.ts';
import { findAlterations, signDay } from '../../support/days.ts';
import { forFile } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { addBooking, match, payablesOf } from '../../support/matching-world.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { importPayables } from '../../support/payables.ts';
import { TODAY, worldOfFile } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
import { NEVER_STALE } from '../alerts/alert-table.ts';

const FROM = toCivilDate('2026-03-28');
const TO = toCivilDate('2026-03-31');
const MARCH = '2026-03' as CivilMonth;

const world = worldOfFile({ startDate: FROM });
const console = forFile(() => openConsole(world.database));
const reviewer = forFile(() => console.as('reviewer', 'rita'));

const textsOf = (date: CivilDate, discount = '12.34') => [
  titleText({ uid: 'a', date, value: '100.10', discount }),
  titleText({ uid: 'b', date, value: '0.05', discount }),
];
const pull = (date: CivilDate, discount?: string) => world.serve(date, textsOf(date, discount));
const sign = (date: CivilDate, by = 'ana') =>
  signDay(world.database, date, { by, bookingsFrom: null });
const reopen = (date: CivilDate) => reopenDay(world.database, date, { by: 'ana', reason: 'again' });
const signAgain = async (date: CivilDate) => {
  await reopen(date);
  await sign(date);
};
const seal = (by = 'ana', month = MARCH) =>
  sealMonth(world.database, month, { by, reason: null, seenDigest: null });
const expectRefused = (fault: string, dates: string) =>
  expect(seal()).rejects.toMatchObject({ context: { fault, dates } });
const march = async () => (await readMonths(world.prisma, TODAY, MARCH))[0];
const monthSeals = () => world.prisma.monthSeal.findMany({ orderBy: { id: 'desc' } });
const openAlerts = async () => {
  await deriveAlerts(world.database, new Date(), NEVER_STALE);
  const where = { kind: 'month_seal_broken', resolvedAt: null };
  return world.prisma.alert.findMany({ where });
};

describe('a month', () => {
  test('is sealed when all days from the start date to its last day are signed off', async () => {
    for (const date of datesBetween(FROM, TO)) await pull(date);
    await expectRefused('sealing_not_signed', '2026-03-28 to 2026-03-31');
    for (const date of datesBetween(FROM, addDays(TO, -1))) await sign(date);
    const open = { state: 'open', days: 4, signed: 3, from: FROM, to: TO, seal: null };
    expect(await march()).toMatchObject(open);
    await expectRefused('sealing_not_signed', '2026-03-31');
    await sign(TO);
    expect(await march()).toMatchObject({ state: 'ready' });
    const sealed = await seal();
    const totals = { title_count: '8', withdrawn_count: '0', original_value_sum: '400.60' };
    expect(sealed).toMatchObject({ month: MARCH, sealedBy: 'ana', days: 4, totals });
    expect(await march()).toMatchObject({ state: 'sealed' });
    expect(await findAlterations(world.database, FROM)).toEqual([]);
    const row = await world.prisma.monthSeal.findFirstOrThrow();
    const seals = await world.prisma.signOff.findMany({ orderBy: { date: 'asc' } });
    expect(row.signOffIds).toEqual(seals.map(({ id }) => id));
    const details = { month: MARCH, digest: sealed.digest, monthSealId: sealed.id, days: 4 };
    const entry = await lastAudit(world, { action: 'month.seal' });
    expect(entry).toMatchObject({ actor: 'ana', details });
    await expect(seal()).rejects.toThrow('The month is sealed already');
    expect(await openAlerts()).toEqual([]);
  });

  test('has a broken seal once a day is restated, signed off again or reopened, and is sealed again', async () => {
    const [restated, reopened] = [FROM, addDays(FROM, 2)];
    await pull(restated, '12.35');
    const broken = [{ date: restated, cause: 'restated' }];
    expect(await march()).toMatchObject({ state: 'broken', broken });
    expect(await openAlerts()).toMatchObject([
      {
        message: 'the seal of the month 2026-03 no longer holds, because of 2026-03-28',
        messagePt: 'o fechamento do mês 03/2026 não vale mais, por causa de 28/03/2026',
      },
    ]);
    await expectRefused('sealing_restated', '2026-03-28');
    await sign(restated);
    await reopenDay(world.database, reopened, { by: 'ana', reason: 'one invoice is missing' });
    expect((await march())?.broken).toEqual([
      { date: restated, cause: 'sealed_again' },
      { date: reopened, cause: 'reopened' },
    ]);
    await expectRefused('sealing_not_signed', '2026-03-30');
    await sign(reopened, 'rosa');
    expect(await march()).toMatchObject({ state: 'ready' });
    const again = await seal();
    expect(await march()).toMatchObject({ state: 'sealed' });
    const seals = await monthSeals();
    expect(seals.map(({ id }) => Number(id))).toEqual([again.id, expect.any(Number)]);
    expect(new Set(seals.map(({ digest }) => digest)).size).toBe(2);
    expect(await openAlerts()).toEqual([]);
  });

  test('that no person has sealed is a difference', async () => {
    const forged = await world.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`
        INSERT INTO conciliation.month_seal
        SELECT (jsonb_populate_record(seal, '{"id": -1, "sealed_by": "rosa"}')).*
        FROM conciliation.month_seal AS seal ORDER BY id LIMIT 1`;
      const rows: unknown[] = [];
      for (const part of alterationsOf(FROM)) rows.push(...(await tx.$queryRaw<unknown[]>(part)));
      await tx.$executeRaw`ROLLBACK`;
      return rows;
    });
    expect(forged).toEqual([{ problem: 'seal', row_key: '-1' }]);
  });

  test('is sealed by one of two persons at once', async () => {
    const date = addDays(FROM, 1);
    for (let round = 0; round < 5; round += 1) {
      await signAgain(date);
      const before = (await monthSeals()).length;
      const outcomes = await Promise.allSettled([seal('ana'), seal('rosa')]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const refused = outcomes.find((outcome) => outcome.status === 'rejected');
      expect(String(refused?.reason)).toContain('The month is sealed already');
      expect(await monthSeals()).toHaveLength(before + 1);
    }
  });

  test.each(['held', 'attention'])('is not sealed while a signed day is %s', async (state) => {
    const date = addDays(FROM, 1);
    await reopen(date);
    await pull(date);
    await sign(date);
    await world.serve(date, state === 'held' ? [] : [...textsOf(date), '{"order":{}}']);
    const day = await readLedgerDay(world.database, date, TODAY);
    expect(day).toMatchObject({ state, isRestated: false, signedOffBy: 'ana' });
    await expectRefused('sealing_waiting', '2026-03-29');
    expect(await march()).toMatchObject({ state: 'broken', days: 4, signed: 3 });
    const { text } = await reviewer.get('/months/2026-03');
    expect(text).toContain(`badge is-${state}`);
    expect(text).not.toContain('name="digest"');
    await pull(date);
    await seal();
  });

  test('has a seal that is not older than the seals of its days, also where it had to wait', async () => {
    const { prisma } = world;
    const { sealing } = await prisma.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${FROM}::date FOR UPDATE`;
      await signAgain(TO);
      const waiting = seal();
      await lockWaits(world.database);
      await signAgain(TO);
      return { sealing: waiting };
    });
    const { sealedAt } = await sealing;
    const newest = await prisma.signOff.findFirstOrThrow({ orderBy: { id: 'desc' } });
    expect(newest.date).toBe(TO);
    expect(sealedAt.getTime()).toBeGreaterThanOrEqual(newest.signedOffAt.getTime());
  });

  test('is not sealed beside a restatement that commits first', async () => {
    const date = addDays(FROM, 3);
    await signAgain(date);
    const digest = (ending: string) => Prisma.sql`
      UPDATE conciliation.day SET content_digest = signed_off_digest || ${ending} WHERE date = ${date}::date`;
    const { sealing } = await world.prisma.$transaction(async (tx) => {
      await tx.$executeRaw(digest('restated'));
      // The seal has to wait for this transaction.
      const sealing = seal().then(
        () => 'sealed',
        (error: { context: object }) => error.context,
      );
      await lockWaits(world.database);
      return { sealing };
    });
    expect(await sealing).toEqual({ fault: 'sealing_restated', dates: '2026-03-31' });
    await world.prisma.$executeRaw(digest(''));
    await seal();
  });

  test('gets days by an earlier start date, which breaks the seal', async () => {
    const earlier = addDays(FROM, -1);
    await correctStartDate(world.database, earlier, { by: 'ana', reason: 'one day more' });
    expect((await march())?.broken).toEqual([{ date: earlier, cause: 'added' }]);
    await pull(earlier);
    await sign(earlier);
    expect((await seal()).days).toBe(5);
    expect(await openAlerts()).toEqual([]);
  });

  test('before the start date, or one that is not over, cannot be sealed', async () => {
    const other = (text: string) => seal('ana', text as CivilMonth);
    await expect(other('2026-02')).rejects.toThrow('ends before the start date');
    await expect(other(TODAY.slice(0, 7))).rejects.toThrow('Not every day');
  });

  test('is a row that nothing changes or removes', async () => {
    const { pool } = world.database;
    for (const statement of [
      `UPDATE conciliation.month_seal SET digest = repeat('0', 64)`,
      'DELETE FROM conciliation.month_seal',
      'TRUNCATE conciliation.month_seal',
    ]) {
      await expect(pool.query(statement), statement).rejects.toThrow('append-only');
    }
  });
});

describe('the pages', () => {
  const seenDigest = async () => hiddenIn((await reviewer.get('/months/2026-03')).text, 'digest');

  test('seal a month with the digest that was seen', async () => {
    await reopen(FROM);
    expect(await seenDigest()).toBe('');
    await sign(FROM);
    const seen = await seenDigest();
    await signAgain(FROM);
    const headers = { 'accept-language': 'pt-BR' };
    const stale = await reviewer.post('/months/2026-03/seal', { digest: seen }, { headers });
    expect(stale.status).toBe(400);
    expect(stale.text).toContain('Houve dias fechados de novo depois da sua consulta.');
    const form = { digest: await seenDigest(), reason: 'agrees with the books' };
    const sealed = await reviewer.post('/months/2026-03/seal', form);
    expect(sealed.location).toBe('/months/2026-03?notice=month_sealed');
    expect((await reviewer.get('/months/2026-03')).text).toContain('Sealed by rita');
    expect((await reviewer.get('/months/2020-01')).status).toBe(404);
    expect((await reviewer.get('/months/x')).status).toBe(404);
  });

  test('warn of open breaks before the month is sealed, also in the file of the months', async () => {
    await signAgain(FROM);
    await importPayables(world.database, payablesOf('k1 1234.50 order=erp-1'), 'snapshot');
    await match(world.database);
    const { text } = await reviewer.get('/months/2026-03');
    expect(/<h1>.*?<\/div>/s.exec(text)?.[0]).toMatch(
      /badge is-attention.*?Ready to be sealed; \d+ open breaks \(/s,
    );
    expect(text).toMatch(
      /<details.*?The month has \d+ open breaks with the ERP, .*?0 of \d+ titles/s,
    );
    const file = await reviewer.post('/months/file', { format: 'csv' });
    expect(file.text).toMatch(/March 2026,[^,]*open breaks[^,]*,5 of 5,\d+,[\d.]+,\d+,/);
  });

  test('show by day what the ERP has, and the days that keep the month from being sealed', async () => {
    const { database } = world;
    const date = addDays(FROM, 2);
    const title = (uid: string, value: string) => titleText({ uid, date, value });
    const titles = [title('erp-1', '1234.50'), title('erp-2', '7.00')];
    await world.serve(date, titles, { withdrawalLimitPercent: 100 });
    await reopen(FROM);
    await importPayables(database, payablesOf('k1 1234.50 order=erp-1'), 'snapshot');
    await match(database);
    await addBooking(database, 'posted', 'k2', date);
    const { text } = await reviewer.get('/months/2026-03');
    const row = new RegExp(`href="/days/${date}">2026-03-30</a></th>.*?</tr>`).exec(text)?.[0];
    const open = `/breaks?date=${date}">1 (7.00)</a>`;
    for (const cell of ['>2<', '>1,241.50<', '1 (1,234.50)', open, '1 (10.00)']) {
      expect(row).toContain(cell);
    }
    expect(text).toMatch(/<dt>In agreement with the ERP<\/dt><dd>1 \(1,234\.50\)/);
    expect(text).toMatch(/<dt>With an open break<\/dt><dd>9 \(407\.60\)/);
    expect(text).toMatch(/not every day.*?signed off\.[^.]*?2026-03-28<\/a>/i);
    expect(text).toMatch(/were restated after their sign-off\. <a[^>]*>2026-03-30<\/a>/);
  });

  test('name no day of the month that is not over', async () => {
    const { text } = await reviewer.get(`/months/${TODAY.slice(0, 7)}`);
    expect(text).toContain('The month can be sealed after');
    const [, unsigned = ''] = /signed off\. (.*?)<\/p>/.exec(text) ?? [];
    // On the first of a month, no day of the month is over.
    const isFirst = TODAY.endsWith('-01');
    expect(unsigned.includes(`/days/${addDays(TODAY, -1)}"`)).toBe(!isFirst);
    expect(unsigned).not.toContain(`/days/${TODAY}"`);
  });
});
