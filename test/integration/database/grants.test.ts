/**
 * The rights of each role, read from the catalog. A relation without a line in the table below fails the test, so a
 * new relation becomes readable or writable by a decision only.
 */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../src/database/migrate.ts';
import { migrateQueue } from '../../../src/queue/postgres-backend.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** As PostgreSQL writes rights: a INSERT, r SELECT, w UPDATE, d DELETE. */
const EXPECTED = `
  _prisma_migrations                                     worker=r
  account_change                               finance=r worker=arw
  alert                                        finance=r worker=arw
  alert_delivery                               finance=r worker=arw
  api_key                                                worker=arw
  audit_chain                                  finance=r worker=r
  audit_entry                                  finance=r worker=ar
  backfill                                     finance=r worker=arw
  booking_batch                                finance=r worker=ar
  booking_consumer                       erp=r finance=r worker=arw
  booking_consumer(acknowledged_at)      erp=w
  booking_consumer(last_seq)             erp=w
  booking_feed                           erp=r finance=r worker=r
  booking_line                                 finance=r worker=ar
  booking_line(document)                                 worker=w
  booking_line(failure)                                  worker=w
  booking_line(posted_hash)                              worker=w
  booking_line(state)                                    worker=w
  booking_line(state_at)                                 worker=w
  booking_offer                                finance=r worker=ar
  booking_receipt                        erp=r finance=r worker=ar
  booking_receipt(consumer)              erp=a
  booking_receipt(content_hash)          erp=a
  booking_receipt(date)                  erp=a
  booking_receipt(document)              erp=a
  booking_receipt(idempotency_key)       erp=a
  booking_receipt(identity_hash)         erp=a
  booking_receipt(is_final)              erp=a
  booking_receipt(occurrence)            erp=a
  booking_receipt(outcome)                               worker=w
  booking_receipt(reason)                erp=a
  booking_receipt(settled_at)                            worker=w
  booking_receipt(settled_by)                            worker=w
  booking_receipt(status)                erp=a
  booking_receipt(version)               erp=a
  booking_start                                finance=r worker=arw
  break_decision finance=r worker=arw
  check_finding finance=r worker=arw
  checkpoint                             erp=r finance=r worker=arw
  company_buyer                                finance=r worker=arw
  console_link                                           worker=arw
  console_oidc_login                                     worker=arwd
  console_session                                        worker=arwd
  console_user                                           worker=arw
  date_digest                                            worker=ar
  day                                    erp=r finance=r worker=arw
  day_buyer finance=r worker=arw
  day_check finance=r worker=arw
  digest_delivery                              finance=r worker=arw
  drift                                        finance=r worker=ar
  drift(acknowledged_at)                                 worker=w
  drift(acknowledged_by)                                 worker=w
  drift(reason)                                          worker=w
  erased_party                                           worker=r
  erp_payable erp=r finance=r worker=arw
  erp_payable(booking_key) erp=aw
  erp_payable(company) erp=aw
  erp_payable(currency) erp=aw
  erp_payable(document) erp=aw
  erp_payable(due_date) erp=aw
  erp_payable(erp_key) erp=a
  erp_payable(instalment) erp=aw
  erp_payable(issue_date) erp=aw
  erp_payable(open_value) erp=aw
  erp_payable(order_uid) erp=aw
  erp_payable(paid_to) erp=aw
  erp_payable(payee) erp=aw
  erp_payable(settled_as) erp=aw
  erp_payable(settled_by) erp=aw
  erp_payable(settled_on) erp=aw
  erp_payable(status) erp=aw
  erp_payable(supplier_external_id) erp=aw
  erp_payable(supplier_tax_id) erp=aw
  erp_payable(total_value) erp=aw
  erp_payable(version) erp=aw
  erp_payable_import erp=r finance=r worker=arw
  erp_payable_import(kind) erp=a
  erp_payable_reject worker=arw
  match_run finance=r worker=arw
  month_seal                                   finance=r worker=ar
  party_account                                          worker=arw
  party_equivalent                             finance=r worker=arw
  payables_to_block                      erp=r finance=r worker=r
  payment_hold                                 finance=r worker=ard
  process_fault                                          worker=arwd
  program_lock                                           worker=arw
  provider                               erp=rd          worker=arw
  provider(accounts)                     erp=aw
  provider(can_anticipate)               erp=aw
  provider(email_addresses)              erp=aw
  provider(external_id)                  erp=aw
  provider(identification_number)        erp=aw
  provider(name)                         erp=aw
  provider(phones)                       erp=aw
  provider(sync_state)                   erp=aw
  provider(type)                         erp=aw
  provider_batch                                         worker=arw
  pull                                         finance=r worker=arw
  rejected_title                               finance=r worker=arw
  schedule_total                                         worker=arwd
  sign_in_limit worker=arwd
  sign_off                                     finance=r worker=ar
  sign_off(end_reason)                                   worker=w
  sign_off(ended_at)                                     worker=w
  sign_off(ended_by)                                     worker=w
  staged_account                                         worker=arwd
  staged_base                                            worker=arwd
  staged_change                                          worker=arwd
  staged_missing                                         worker=arwd
  staged_reject                                          worker=arwd
  staged_title                                           worker=arwd
  sweep                                        finance=r worker=arw
  sweep_difference                             finance=r worker=arw
  title                                        finance=r worker=arw
  title_change                                 finance=r worker=ar
  title_check                                            worker=arw
  title_feed                             erp=r finance=r worker=r
  title_finding                                          worker=arw
  title_match finance=r worker=arw
  title_payable erp=r finance=r worker=r
  title_revision                               finance=r worker=ar
  title_succession                             finance=r worker=ar
`;

let database: TestDatabase;

beforeAll(async () => {
  const logger = pino({ level: 'silent' });
  database = await createTestDatabase();
  await migrate({ databaseUrl: database.url, logger });
  await migrateQueue(database.url, logger);
  await migrate({ databaseUrl: database.url, logger, roles: true });
});
afterAll(() => database.drop());

interface Rights {
  readonly schema: string;
  readonly name: string;
  /** `S` for a sequence; see pg_class.relkind. */
  readonly kind: string;
  /** Of everybody but the owner, PUBLIC without a name. */
  readonly grants: readonly string[];
}

/** Relations of every schema that is not PostgreSQL's own, and the columns with separate rights. */
async function readRights(): Promise<Rights[]> {
  const { rows } = await withClient(database.url, (client) =>
    client.query<Rights>(`
      WITH relation AS (
        SELECT pg_class.oid, nspname AS schema, relname AS name, relkind AS kind, relowner AS owner, relacl AS acl
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
          AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
      ), object AS (
        SELECT schema, name, kind, owner, acl FROM relation
        UNION ALL
        SELECT schema, format('%s(%s)', name, attname), kind, owner, attacl
        FROM relation JOIN pg_attribute ON attrelid = oid WHERE attacl IS NOT NULL
      )
      SELECT schema, name, kind::text, ARRAY(
               SELECT replace(split_part(item::text, '/', 1), 'conciliation_', '') FROM unnest(acl) AS item
               WHERE NOT starts_with(item::text, owner::regrole || '=') ORDER BY 1
             ) AS grants
      FROM object ORDER BY schema, name COLLATE "C"`),
  );
  return rows;
}

test('each role has the expected rights on each relation, and no other role has any', async () => {
  const rights = await readRights();
  const relations = rights.filter(
    ({ schema, kind }) => schema !== 'conciliation_queue' && kind !== 'S',
  );
  const lines = relations.map(({ name, grants }) => [name, ...grants].join(' '));
  const expected = EXPECTED.trim().split('\n');
  expect(lines).toEqual(expected.map((line) => line.trim().replace(/ +/g, ' ')));
  expect(new Set(relations.map(({ schema }) => schema))).toEqual(new Set(['conciliation']));
});

test('only the service may use the queue and the sequences', async () => {
  const rights = await readRights();
  const queue = rights.filter(({ schema }) => schema === 'conciliation_queue');
  const sequences = rights.filter(({ kind }) => kind === 'S');
  expect(queue.length).toBeGreaterThan(0);
  expect(sequences.length).toBeGreaterThan(0);
  for (const { name, kind, grants } of [...queue, ...sequences]) {
    expect({ name, grants }).toEqual({
      name,
      grants: [kind === 'S' ? 'worker=rU' : 'worker=arwd'],
    });
  }
});

test('no role may create anything in a schema, and later tables get no rights by themselves', async () => {
  const { rows } = await withClient(database.url, (client) =>
    client.query(`
      SELECT nspname AS schema, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') AS role, privilege_type AS right
      FROM pg_namespace, aclexplode(nspacl)
      WHERE grantee <> nspowner AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
      UNION ALL
      SELECT 'default', defaclrole::regrole::text, defaclobjtype::text FROM pg_default_acl
      ORDER BY 1, 2`),
  );
  const usage = (schema: string, role: string) => ({ schema, role, right: 'USAGE' });
  expect(rows).toEqual([
    usage('conciliation', 'conciliation_erp'),
    usage('conciliation', 'conciliation_finance'),
    usage('conciliation', 'conciliation_worker'),
    usage('conciliation_queue', 'conciliation_worker'),
    usage('public', 'PUBLIC'),
  ]);
});

test('no function with the rights of its owner can be executed by PUBLIC, and each pins search_path', async () => {
  const { rows } = await withClient(database.url, (client) =>
    client.query(`
      SELECT pronamespace::regnamespace || '.' || proname AS name,
             ARRAY(SELECT coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC')
                   FROM aclexplode(coalesce(proacl, acldefault('f', proowner)))
                   WHERE grantee <> proowner AND privilege_type = 'EXECUTE') AS others,
             coalesce(proconfig && ARRAY['search_path=pg_catalog, pg_temp'], false) AS pins_path
      FROM pg_proc
      WHERE prosecdef AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      ORDER BY 1`),
  );
  expect(rows).toEqual([
    { name: 'conciliation.link_audit_entry', others: [], pins_path: true },
    {
      ...{ name: 'conciliation.safe_position', pins_path: true },
      others: ['conciliation_worker', 'conciliation_finance', 'conciliation_erp'],
    },
    // Moves the numbers forward only.
    { name: 'conciliation.skip_numbers', others: ['conciliation_worker'], pins_path: true },
  ]);
});
