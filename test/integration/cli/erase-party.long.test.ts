import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import { readFeed } from '../../../src/features/bookings/feed.sql.ts';
import {
  type Receipt,
  takeReceipts,
} from '../../../src/features/bookings/receipt-decisions.sql.ts';
import { environmentOf, runCommand } from '../../support/child-command.ts';
import { decideOpenChanges, signDay } from '../../support/days.ts';
import { documentedSql, isWhatWasSigned, signedRows } from '../../support/documented-sql.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { clientOfFile, DAY, daysFrom, worldWithUsers } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

interface Party {
  readonly taxId: string;
  readonly externalId: string;
  readonly name: string;
  readonly account: string;
}
const ANA: Party = {
  ...{ taxId: '52998224725', externalId: 'SUP-ANA-1' },
  ...{ name: 'Ana CANARY Souza', account: '88117755' },
};
const ANA_MASKED = { ...ANA, taxId: '529.982.247-25' };
const BIA: Party = {
  ...{ taxId: '11144477735', externalId: 'SUP-BIA-2', name: 'Bia Lima', account: '33449922' },
};
const BANK: Party = {
  ...{ taxId: '11222333000181', externalId: '', name: 'Banco Exemplo', account: '1234567' },
};
/** The data of Ana that must be in no table any more. */
const TRACES = [ANA.taxId, ANA_MASKED.taxId, ANA.externalId, ANA.name, ANA.account, '88117756'];

const SIGNED = DAY;
const HELD = daysFrom(1);

const world = worldWithUsers();
const { users } = world;
const owner = clientOfFile(() => world.databaseUrl);
const folder = forFile(openFolder);
let taxIdFile: string;
let heldPullId: bigint;
let sent: Receipt[];
beforeAll(async () => {
  taxIdFile = join(folder.path, 'cpf.txt');
  await writeFile(taxIdFile, `${ANA_MASKED.taxId}\n`);
  await prepare();
});

const erase = (args: readonly string[], environment: Record<string, string> = {}) =>
  runCommand(['erase-party', ...args], { ...environmentOf(world), ...environment });
const BY_FILE = () => ['--tax-id-file', taxIdFile, '--reason', 'request 17, retention has ended'];

const title = (
  date: CivilDate,
  uid: string,
  {
    provider = BIA,
    agent = BANK,
    ...fields
  }: { provider?: Party; agent?: Party; discount?: string; more?: string } = {},
) =>
  titleText({
    ...{ date, uid, name: agent.name, agent: agent.taxId, agentAccount: agent.account },
    ...{ taxId: provider.taxId, code: provider.externalId, account: provider.account, ...fields },
  });

const broken = (date: CivilDate, taxId: string) =>
  `{"order":{"uid":"x"},"acceptedDate":"${date}","originalValue":"1","provider":{"identification":"${taxId}"}}`;

async function pull(date: CivilDate, ...texts: string[]) {
  return world.serve(date, texts);
}

const extra = `,"note":"${ANA.name}"`;
/** The signed day as the platform states it last; `discount` is that of one of Ana's titles. */
const signedDay = (discount = '1') => [
  title(SIGNED, 'own', { provider: ANA, discount, more: extra }),
  title(SIGNED, 'masked', { provider: ANA_MASKED }),
  title(SIGNED, 'other'),
  title(SIGNED, 'agent', { agent: ANA }),
  title(SIGNED, 'both', { provider: ANA, agent: ANA }),
  title(SIGNED, 'was-agent', { agent: BANK }),
  title(SIGNED, 'became-agent', { agent: ANA }),
  title(SIGNED, 'account', { provider: { ...ANA, account: '88117756' } }),
];

async function prepare(): Promise<void> {
  const before = signedDay('2').slice(0, 5);
  await pull(
    SIGNED,
    ...before,
    title(SIGNED, 'was-agent', { agent: ANA }),
    title(SIGNED, 'became-agent', { agent: BANK }),
    title(SIGNED, 'account', { provider: ANA }),
  );
  await pull(SIGNED, ...signedDay());
  await sign(SIGNED);
  sent = await receipts();
  await takeReceipts(world.database, 'erp', sent);
  await owner.query(`
    INSERT INTO conciliation.drift (place, path, kind, value, names, first_pull_id)
    SELECT path, path, 'unknown_value', value, 1, max(pull.id) FROM conciliation.pull,
           (VALUES ('${ANA_MASKED.taxId}'), ('chave ${ANA.taxId}'), ('CHEQUE')) AS seen (value), (VALUES ('titles[].payment.type')) AS named (path)
           GROUP BY path, value`);

  const heldTitles = ['h1', 'h2', 'h3'].map((uid) => title(HELD, uid, { provider: ANA }));
  await pull(HELD, ...heldTitles, broken(HELD, ANA.taxId));
  const held = await pull(HELD, title(HELD, 'h1', { provider: ANA, discount: '3' }));
  expect(held.state).toBe('held');
  heldPullId = held.pullId;

  await owner.query(`
    INSERT INTO conciliation.provider (external_id, identification_number, name, accounts)
    VALUES ('${ANA.externalId}', '${ANA_MASKED.taxId}', '${ANA.name}', '${JSON.stringify([{ accountNumber: ANA.account }])}'),
           ('${BIA.externalId}', '${BIA.taxId}', '${BIA.name}', NULL)`);
  await owner.query(`
    UPDATE conciliation.provider SET sync_state = 'rejected', contested_by = ARRAY['${ANA.externalId}'],
           last_error = '{"message":"${ANA.taxId} belongs to another"}' WHERE external_id = '${BIA.externalId}'`);
  await owner.query(`UPDATE conciliation.provider SET last_error = $1 WHERE external_id = $2`, [
    `{"taxId":"${ANA.taxId}"}`,
    BIA.externalId,
  ]);
  await owner.query(`
    INSERT INTO conciliation.provider_batch (external_ids, answer, finished_at)
    VALUES (ARRAY['${ANA.externalId}', '${BIA.externalId}'], '{"ok":true}', now()),
           (ARRAY['${BIA.externalId}'], '{"error":"taken","by":"${ANA_MASKED.taxId}"}', now()),
           (ARRAY['${BIA.externalId}'], 'fine', now())`);
  await owner.query(`
    WITH import AS (INSERT INTO conciliation.erp_payable_import (kind) VALUES ('delta') RETURNING id)
    INSERT INTO conciliation.erp_payable_reject (import_id, at, reasons, raw)
    SELECT id, at, '{openValue}', raw FROM import, (VALUES (1, '["k8","${ANA_MASKED.taxId}"]'), (2, '["k9","${BIA.taxId}"]')) AS rejects (at, raw)`);
  await owner.query(`
    INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, supplier_tax_id, payee, open_value, document)
    VALUES ('both', '${ANA.externalId}', '${ANA.taxId}', NULL, 1, 'NF 1'), ('code', '${ANA.externalId}', NULL, NULL, 2, 'NF ' || '${ANA.externalId}'),
           ('tax-id', NULL, '${ANA.taxId}', '${BIA.taxId}', 3, NULL), ('payee', NULL, '${BIA.taxId}', '${ANA.taxId}', 4, NULL), ('other', '${BIA.externalId}', '${BIA.taxId}', NULL, 5, 'NF 2'),
           ('document', '${BIA.externalId}', '${BIA.taxId}', NULL, 6, 'RPA de 529.982.247-25')`);
}

/** What the ERP says about the lines of the signed day, and about a line that there is not. */
async function receipts() {
  const { lines } = await readFeed(world.database, 'erp', { after: 0n, limit: 100 });
  const texts: Record<string, { document?: string; reason?: string }> = {
    own: { reason: `conta ${ANA.account} de ${ANA.name} inválida` },
    masked: { document: `NF ${ANA.externalId}/7` },
    agent: { document: `FT-1/${ANA_MASKED.taxId}` },
    other: { reason: `bloqueado por ${ANA_MASKED.taxId}.` },
    account: { document: 'FT-2' },
  };
  const told = lines.flatMap(({ key, contentHash, title: { order_uid: uid } }) =>
    texts[String(uid)] === undefined ? [] : [{ key, contentHash, ...texts[String(uid)] }],
  );
  const [{ key, contentHash } = { key: '', contentHash: '' }] = told;
  const unknown = { key: key.replace(/\d+$/, '9'), contentHash, document: `CPF ${ANA.taxId}` };
  return [...told, unknown].map((receipt) => ({
    ...{ document: null, reason: null, idempotencyKey: receipt.key, ...receipt },
    status: 'document' in receipt ? ('posted' as const) : ('failed' as const),
  }));
}

async function sign(date: CivilDate): Promise<void> {
  await decideOpenChanges(world.database, 'confirmed', 'caio');
  await signDay(world.database, date, { bookingsFrom: date });
}

/** The tables in which something of Ana can be read. */
async function findTraces(): Promise<Record<string, string[]>> {
  const { rows: tables } = await owner.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'v') ORDER BY 1`);
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await owner.query<{ trace: string }>(
      `SELECT DISTINCT trace FROM conciliation.${name} AS row, unnest($1::text[]) AS trace
       WHERE strpos(row::text, trace) > 0 ORDER BY 1`,
      [TRACES],
    );
    if (rows.length > 0) found[name] = rows.map(({ trace }) => trace);
  }
  return found;
}

/** Whether the digest of the day as it was signed, by the documented query, is that of the seal. */
async function sealVerifies(date: CivilDate): Promise<boolean> {
  const { rows } = await owner.query(`
    SELECT encode(sha256(string_agg(uuid_send(content_hash), '' ORDER BY content_hash)), 'hex')
           = (SELECT content_digest FROM conciliation.sign_off WHERE date = '${date}') AS verifies
    FROM (${await signedRows(date)}) AS day`);
  return rows[0]?.verifies;
}

async function readTitles(date: CivilDate) {
  const { rows } = await owner.query(`
    SELECT order_uid AS uid, provider_external_id AS external_id, provider_identification AS provider,
    provider_account AS account, financial_agent_identification AS agent,
    financial_agent_name AS name, payment_account, to_jsonb(title) ->> 'erased_at' IS NOT NULL AS erased
    FROM conciliation.title WHERE accepted_date = '${date}' AND status = 'current' ORDER BY id`);
  return rows;
}

const COUNTS = {
  bookingLines: 6 + 1,
  bookingReceipts: 5,
  titles: 6 + 3,
  revisions: 3,
  partyAccounts: 3,
  accountChanges: 2,
  rejects: 1,
  drift: 2,
  providers: 1,
  providerBatches: 2,
  payables: 5,
  payableRejects: 1,
};

describe('before', () => {
  test('a dry run counts and changes nothing', async () => {
    const before = [await findTraces(), await readTitles(SIGNED)];
    const ran = await erase([...BY_FILE(), '--dry-run', '--json']);
    expect(ran).toMatchObject({ exit: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ dryRun: true, partyId: null, counts: COUNTS });
    expect([await findTraces(), await readTitles(SIGNED)]).toEqual(before);
  });

  test('the service’s user may not', async () => {
    const ran = await erase(BY_FILE(), { DATABASE_URL: users.urlOf('worker') });
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain('only the owner of the schema may run "conciliation erase-party"');
  });

  test('a file without a tax identifier is refused, and none of it is repeated', async () => {
    const path = join(folder.path, 'wrong.txt');
    await writeFile(path, 'CANARY 52998224726');
    const ran = await erase(['--tax-id-file', path, '--reason', 'x']);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain('expected one CPF or CNPJ');
    expect(ran.stdout + ran.stderr).not.toMatch(/CANARY|52998224726/);
  });

  test('a party that nothing names is refused, and not remembered', async () => {
    const ran = await erase(['--external-id', 'nobody', '--reason', 'x']);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain('names this party');
    const { rows } = await owner.query(
      'SELECT FROM conciliation.erased_party WHERE ended_at IS NULL',
    );
    expect(rows).toHaveLength(0);
  });
});

describe('erased', () => {
  test('nothing of the party is left in any table, and everything of others is', async () => {
    const others = (await readTitles(SIGNED)).filter(({ uid }) => /other|was-agent/.test(uid));
    const ran = await erase([...BY_FILE(), '--json']);
    expect(ran).toMatchObject({ exit: 0, stderr: '' });
    expect(ran.stdout).not.toMatch(new RegExp(TRACES.join('|')));
    const report = JSON.parse(ran.stdout);
    expect(report.counts).toEqual(COUNTS);
    expect(await findTraces()).toEqual({});

    const { pseudonym } = report;
    const titles = await readTitles(SIGNED);
    expect(titles.filter(({ uid }) => /other|was-agent/.test(uid))).toEqual(others);
    expect(titles.find(({ uid }) => uid === 'own')).toEqual({
      ...{ uid: 'own', external_id: pseudonym, provider: pseudonym, account: null, erased: true },
      ...{ agent: BANK.taxId, name: BANK.name, payment_account: BANK.account },
    });
    expect(titles.find(({ uid }) => uid === 'agent')).toEqual({
      ...{ uid: 'agent', external_id: BIA.externalId, provider: BIA.taxId, account: BIA.account },
      ...{ agent: pseudonym, name: pseudonym, payment_account: null, erased: true },
    });
    const { rows } = await owner.query(`
      SELECT before, after FROM conciliation.title_revision JOIN conciliation.title ON id = title_id
      WHERE order_uid = 'was-agent'`);
    const agent = (identification: string, name: string, account: string | null) => ({
      financial_agent_identification: identification,
      financial_agent_name: name,
      payment_account: account,
    });
    expect(rows).toEqual([
      {
        before: agent(pseudonym, pseudonym, null),
        after: agent(BANK.taxId, BANK.name, BANK.account),
      },
    ]);
  });

  test('revisions and receipts are append-only again, for the owner too', async () => {
    await expect(
      owner.query(`UPDATE conciliation.title_revision SET kind = 'changed'`),
    ).rejects.toThrow('append-only');
    await expect(
      owner.query(`
        UPDATE conciliation.booking_receipt SET document = 'x' WHERE status = 'posted'`),
    ).rejects.toThrow('append-only');
  });

  test('what the ERP wrote about others stays, and it may send the receipts of the party again', async () => {
    const { rows } = await owner.query(`
      SELECT document FROM conciliation.booking_receipt
      UNION ALL SELECT document FROM conciliation.booking_line
      UNION ALL SELECT document FROM conciliation.erp_payable
      UNION ALL SELECT value FROM conciliation.drift WHERE kind = 'unknown_value'`);
    const texts = rows.map(({ document }) => String(document).replace(/^erased-\d+$/, 'erased'));
    expect(texts.filter((text) => text !== 'null').sort()).toEqual([
      ...['CHEQUE', 'FT-2', 'FT-2', 'NF 1', 'NF 2'],
      ...['erased', 'erased', 'erased', 'erased', 'erased'],
    ]);
    expect(await takeReceipts(world.database, 'erp', sent)).toBe(0);
    const changed = sent.map((receipt) => ({ ...receipt, contentHash: '0'.repeat(32) }));
    await expect(takeReceipts(world.database, 'erp', changed)).rejects.toThrow(
      'that no other receipt has',
    );
  });

  test('the keys of the payables stay, and the page says so', async () => {
    const { rows } = await owner.query(`
      SELECT erp_key FROM conciliation.erp_payable WHERE supplier_external_id LIKE 'erased-%' ORDER BY 1`);
    expect(rows.map(({ erp_key: key }) => key)).toEqual(['both', 'code', 'tax-id']);
    const page = await readFile('docs/privacy.md', 'utf8');
    expect(page.slice(page.indexOf('## What the command does not reach'))).toContain(
      '`erp_payable.erp_key`',
    );
  });

  test('again there is nothing to erase; the audit log has the erasure without the party', async () => {
    const ran = await erase([...BY_FILE(), '--json']);
    expect(ran.exit).toBe(0);
    expect(Object.values(JSON.parse(ran.stdout).counts)).toEqual(
      Object.values(COUNTS).map(() => 0),
    );
    const { rows } = await owner.query(`
      SELECT action, reason, details - 'erasedPartyId' AS details FROM conciliation.audit_entry
      WHERE action LIKE 'party.%' AND reason LIKE 'request 17%' ORDER BY id`);
    const reason = 'request 17, retention has ended';
    const digests = { [SIGNED]: expect.any(String), [HELD]: expect.any(String) };
    expect(rows).toEqual([
      { action: 'party.erase', reason, details: {} },
      { action: 'party.erased', reason, details: { ...COUNTS, digests } },
    ]);
    const verified = await runCommand(['verify', '--audit'], environmentOf(world));
    expect(verified.exit).toBe(0);
  });

  test('totals and seals verify', async () => {
    expect(await sealVerifies(SIGNED)).toBe(true);
    expect(await isWhatWasSigned(owner, SIGNED)).toEqual([true]);
  });

  test('after the documented VACUUM the statistics have nothing of the party either', async () => {
    const vacuum = await documentedSql('docs/privacy.md', 'VACUUM');
    await owner.query(vacuum);
    const { rows } = await owner.query(
      `SELECT tablename, attname FROM pg_stats AS row, unnest($1::text[]) AS trace
       WHERE schemaname = 'conciliation' AND strpos(row::text, trace) > 0`,
      [TRACES],
    );
    expect(rows).toEqual([]);
  });
});

test('a pull that was held before is released without the party', async () => {
  const decision = { by: 'otto', reason: 'cancelled' };
  await releasePull(world.parts, heldPullId, decision);
  expect(await findTraces()).toEqual({});
  expect((await readTitles(HELD)).map(({ uid, erased }) => [uid, erased])).toEqual([['h1', true]]);
});

test('a supplier is erased by its number in the ERP, and a lifted erasure ends', async () => {
  const date = daysFrom(60);
  await pull(date, title(date, 'b1'));
  const ran = await erase(['--external-id', BIA.externalId, '--reason', 'request 19', '--json']);
  expect(ran).toMatchObject({ exit: 0, stderr: '' });
  const { partyId, pseudonym } = JSON.parse(ran.stdout);
  expect(await readTitles(date)).toMatchObject([{ external_id: pseudonym, provider: pseudonym }]);

  const lifted = await erase(['--lift', String(partyId), '--reason', 'a new contract']);
  expect(lifted).toMatchObject({ exit: 0, stderr: '' });
  await pull(date, title(date, 'b1'), title(date, 'b2'));
  expect(await readTitles(date)).toMatchObject([
    { uid: 'b1', external_id: pseudonym, erased: true },
    { uid: 'b2', external_id: BIA.externalId, provider: BIA.taxId, erased: false },
  ]);
});
