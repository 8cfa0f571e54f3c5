import type { RoleName } from './database-roles.ts';

const DDL = [
  'CREATE TABLE conciliation.mine (id int)',
  'ALTER TABLE conciliation.title ADD COLUMN mine int',
  'DROP TABLE conciliation.drift',
  'DROP VIEW conciliation.title_feed',
  'CREATE INDEX ON conciliation.title (order_uid)',
  'CREATE SCHEMA mine',
  'CREATE FUNCTION conciliation.mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
  'CREATE ROLE mine',
  'ALTER TABLE conciliation.audit_entry DISABLE TRIGGER ALL',
  'ALTER TABLE conciliation.audit_entry OWNER TO CURRENT_USER',
  'DROP TRIGGER audit_entry_linked ON conciliation.audit_entry',
  'SET session_replication_role = replica',
  'TRUNCATE conciliation.title',
  'TRUNCATE conciliation.staged_title',
];

const REWRITING = [
  `UPDATE conciliation.title_revision SET kind = 'changed'`,
  `UPDATE conciliation.title_change SET kind = 'changed'`,
  `UPDATE conciliation.audit_entry SET actor = 'nobody'`,
  `UPDATE conciliation.audit_chain SET hash = ''`,
  'UPDATE conciliation.payment_hold SET pull_id = 0',
  `UPDATE conciliation.drift SET path = ''`,
  `UPDATE conciliation.sign_off SET content_digest = ''`,
  `UPDATE conciliation.sign_off SET signed_off_by = 'nobody'`,
  `UPDATE conciliation.month_seal SET digest = ''`,
  `UPDATE conciliation._prisma_migrations SET checksum = ''`,
  `INSERT INTO conciliation.audit_chain VALUES (1, 1, '', '')`,
  `INSERT INTO conciliation._prisma_migrations (id, checksum, migration_name) VALUES ('', '', '')`,
  ...[
    'title',
    'title_revision',
    'title_change',
    'audit_entry',
    'audit_chain',
    'sign_off',
    'month_seal',
    'day',
    'pull',
    'sweep',
    'sweep_difference',
    'title_change',
    'rejected_title',
    'account_change',
    'payment_hold',
    'drift',
    'provider',
    'provider_batch',
    'checkpoint',
    'console_user',
  ].map((table) => `DELETE FROM conciliation.${table}`),
];

const WRITING = [
  `UPDATE conciliation.title SET original_value = 0`,
  `UPDATE conciliation.day SET state = 'reconciled'`,
  `UPDATE conciliation.day SET signed_off_by = 'nobody'`,
  `INSERT INTO conciliation.audit_entry (actor, action) VALUES ('nobody', 'nothing')`,
];

/** A lock of a reader could stop the queue on PostgreSQL. */
const ADVISORY_LOCKS = ['SELECT pg_advisory_lock(1)', 'SELECT pg_try_advisory_xact_lock(1, 2)'];

/** Every login could fill the disk with them. */
const LARGE_OBJECTS = [
  'SELECT lo_creat(-1)',
  'SELECT lo_create(0)',
  `SELECT lo_from_bytea(0, '')`,
  `SELECT lo_put(1, 0, '')`,
  `SELECT lo_import('/etc/hostname')`,
];

const SECRETS_OF_THE_PROGRAM = [
  'SELECT password_hash FROM conciliation.console_user',
  'SELECT totp_secret FROM conciliation.console_user',
  'SELECT totp_offer FROM conciliation.console_session',
  'SELECT token_hash FROM conciliation.console_session',
  'SELECT FROM conciliation.api_key',
  'SELECT FROM conciliation.staged_title',
  'SELECT FROM conciliation.provider_batch',
];

/** The statements that PostgreSQL refuses a member of each role with INSUFFICIENT_PRIVILEGE. */
export const FORBIDDEN: Readonly<Record<RoleName, readonly string[]>> = {
  worker: [...DDL, ...REWRITING, ...LARGE_OBJECTS],
  finance: [
    ...DDL,
    ...REWRITING,
    ...WRITING,
    ...ADVISORY_LOCKS,
    ...LARGE_OBJECTS,
    ...SECRETS_OF_THE_PROGRAM,
    'SELECT FROM conciliation.provider',
    'CREATE TEMPORARY TABLE mine (id int)',
  ],
  erp: [
    ...DDL,
    ...REWRITING.filter((statement) => !statement.endsWith('conciliation.provider')),
    ...WRITING,
    ...ADVISORY_LOCKS,
    ...LARGE_OBJECTS,
    ...SECRETS_OF_THE_PROGRAM,
    ...['title', 'title_revision', 'audit_entry', 'rejected_title', 'sign_off'].map(
      (table) => `SELECT FROM conciliation.${table}`,
    ),
    `UPDATE conciliation.provider SET synced_at = now()`,
    'CREATE TEMPORARY TABLE mine (id int)',
  ],
};

/** The statements that PostgreSQL refuses everybody but a superuser with INSUFFICIENT_PRIVILEGE. */
export const FOR_SUPERUSERS = [
  `COPY conciliation.day FROM PROGRAM 'id'`,
  `SELECT pg_read_file('/etc/passwd')`,
  'SET ROLE postgres',
  'CREATE ROLE mine',
  'ALTER ROLE postgres NOLOGIN',
  'GRANT conciliation_worker TO erp',
  'SET session_replication_role = replica',
];

export const INSUFFICIENT_PRIVILEGE = '42501';
