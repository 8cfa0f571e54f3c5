import type { Pool } from 'pg';

/** The tables that a history writes, and that bookings and the check read. */
const TABLES = [
  ...'booking_receipt booking_offer booking_line booking_batch booking_start sign_off'.split(' '),
  ...'title_change title_revision date_digest schedule_total title rejected_title day pull'.split(
    ' ',
  ),
];
const SEQUENCES = [
  ...'booking_receipt_id_seq booking_offer_seq_seq title_change_change_seq_seq'.split(' '),
  ...'date_digest_id_seq title_id_seq booking_line_id_seq booking_batch_id_seq sign_off_id_seq'.split(
    ' ',
  ),
];

/** A copy of the tables beside them, in the schema `backup`. A restore takes rows and numbers back. */
export class DatabaseBackup {
  readonly #pool: Pool;
  /** By table. */
  readonly #columns = new Map<string, string>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async prepare(): Promise<void> {
    await this.#pool.query(`
      CREATE SCHEMA backup; CREATE TABLE backup.sequence (name text, value bigint)`);
    for (const table of [...TABLES, 'audit_entry']) {
      await this.#pool.query(`
        CREATE TABLE backup.${table} AS TABLE conciliation.${table} WITH NO DATA`);
      // PostgreSQL computes the others itself.
      const { rows } = await this.#pool.query<{ columns: string }>(`
        SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
        WHERE attrelid = 'conciliation.${table}'::regclass AND attnum > 0 AND attgenerated = ''`);
      this.#columns.set(table, rows[0]?.columns ?? '');
    }
  }

  clear(): Promise<void> {
    return this.#run(TABLES.map((table) => `DELETE FROM conciliation.${table}`));
  }

  take(): Promise<void> {
    return this.#run([
      ...[...TABLES, 'audit_entry'].flatMap((table) => [
        `DELETE FROM backup.${table}`,
        `INSERT INTO backup.${table} SELECT * FROM conciliation.${table}`,
      ]),
      'DELETE FROM backup.sequence',
      ...SEQUENCES.map(
        (name) =>
          `INSERT INTO backup.sequence SELECT '${name}', last_value FROM conciliation.${name}`,
      ),
    ]);
  }

  restore(): Promise<void> {
    return this.#run([
      ...TABLES.flatMap((table) => [
        `DELETE FROM conciliation.${table}`,
        `INSERT INTO conciliation.${table} (${this.#columns.get(table)})
         SELECT ${this.#columns.get(table)} FROM backup.${table}`,
      ]),
      // The entries about dates, as the check compares them with the seals. Users and consumers are not restored.
      `DELETE FROM conciliation.audit_entry
       WHERE date IS NOT NULL AND id NOT IN (SELECT id FROM backup.audit_entry)`,
      `SELECT setval(('conciliation.' || name)::regclass, value) FROM backup.sequence`,
    ]);
  }

  /** As a replica does: without triggers, which refuse to delete. */
  async #run(statements: readonly string[]): Promise<void> {
    const all = ['BEGIN', 'SET LOCAL session_replication_role = replica', ...statements, 'COMMIT'];
    await this.#pool.query(all.join(';'));
  }
}
