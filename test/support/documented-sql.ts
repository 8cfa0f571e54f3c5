import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { FileClient } from './pull-world.ts';

/** The statement of a document that has a part. */
export async function documentedSql(file: string, part: string): Promise<string> {
  const blocks = [...(await readFile(file, 'utf8')).matchAll(/```sql\n(.*?);?\n *```/gs)];
  const sql = blocks.map(([, block]) => block ?? '').find((block) => block.includes(part)) ?? '';
  expect(sql).not.toBe('');
  return sql;
}

/** The rows of a date as they were signed, as the data dictionary reads them. */
export async function signedRows(date: CivilDate): Promise<string> {
  const sql = await documentedSql('docs/data-dictionary.md', 'jsonb_populate_record');
  return sql
    .replaceAll(':date', `'${date}'`)
    .replaceAll(':at', 'now()')
    .replaceAll(':fence', `(SELECT fence FROM conciliation.sign_off WHERE date = '${date}')`);
}

/** Whether the date has the content of its seals, as the data dictionary finds out. */
export async function isWhatWasSigned(client: FileClient, date: CivilDate): Promise<boolean[]> {
  const sql = await documentedSql('docs/data-dictionary.md', 'is_what_was_signed');
  const { rows } = await client.query(sql.replaceAll(':date', `'${date}'`));
  return rows.map((row) => row.is_what_was_signed);
}
