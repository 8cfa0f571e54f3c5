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

/** What no role may write, and no reader may read. The rights on each table are in grants.test.ts. */
const OF_TABLES = [
  'DELETE FROM conciliation.title',
  `UPDATE conciliation.audit_entry SET actor = 'nobody'`,
  `INSERT INTO conciliation.audit_chain VALUES (1, 1, '', '')`,
];
const OF_READERS = [
  `UPDATE conciliation.title SET original_value = 0`,
  'SELECT password_hash FROM conciliation.console_user',
  'SELECT FROM conciliation.api_key',
  'CREATE TEMPORARY TABLE mine (id int)',
  ...ADVISORY_LOCKS,
];

/** The statements that PostgreSQL refuses a member of each role with INSUFFICIENT_PRIVILEGE. */
export const FORBIDDEN: Readonly<Record<RoleName, readonly string[]>> = {
  worker: [...DDL, ...LARGE_OBJECTS, ...OF_TABLES],
  finance: [...DDL, ...LARGE_OBJECTS, ...OF_TABLES, ...OF_READERS],
  erp: [...DDL, ...LARGE_OBJECTS, ...OF_TABLES, ...OF_READERS],
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
