import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { FileClient } from './pull-world.ts';
import { type TitleFields, titleText } from './titles.ts';

/**
 * Personal data of no real person, which no other text holds, the names of these files included: an
 * error's stack tells them. `leaksIn` finds any of it in any case.
 */
const MARK = 'kanari';
const TAX_IDS = ['98765432000198', '11144477735', '11444777000161'] as const;

export function leaksIn(text: string, secrets: readonly string[] = []): string[] {
  const lower = text.toLowerCase();
  return [MARK, ...TAX_IDS, ...secrets].flatMap((secret) => {
    const at = lower.indexOf(secret.toLowerCase());
    // The text around the value helps to find the leak.
    return at === -1 ? [] : [text.slice(Math.max(0, at - 200), at + 100)];
  });
}

/** Everything that Node would print of an uncaught error, with all it refers to. */
export function toWholeText(error: unknown): string {
  return inspect(error, { depth: 20, showHidden: true });
}

export function expectNoLeak(where: string, text: string, secrets: readonly string[] = []): void {
  expect(leaksIn(text, secrets), where).toEqual([]);
}

/** A title whose every field with personal data holds a canary; JSON text. */
export const canaryTitle = (fields: TitleFields = {}): string =>
  titleText({
    ...{ uid: 'order', value: '100.00', discount: '1.00', name: 'Kanari Singer' },
    ...{ agent: TAX_IDS[0], buyer: TAX_IDS[1], taxId: TAX_IDS[2], code: 'kanari-provider' },
    ...{ agentAccount: 'kanari account agent', account: 'kanari account provider' },
    ...fields,
  })
    .replaceAll(/"(bank|agency|agencyDigit|accountDigit)":"[^"]*"/g, '"$1":"kanari $1"')
    .replace('0.5%', 'kanari commission');

/** Every table that is not for titles, and of the rejects all but their text. */
export async function expectCleanLedger(
  administrator: FileClient,
  secrets: readonly string[],
): Promise<void> {
  const tables = ['pull', 'title_change', 'day', 'checkpoint', 'drift', 'alert', 'audit_entry'];
  for (const table of tables) {
    const { rows } = await administrator.query(`
      SELECT string_agg(to_jsonb(entry)::text, E'\\n') AS text FROM conciliation.${table} AS entry`);
    expectNoLeak(`the table ${table}`, rows[0]?.text ?? '', secrets);
  }
  const { rows } = await administrator.query(`
    SELECT coalesce(string_agg(array_to_string(reasons, E'\\n'), E'\\n'), '') AS text
    FROM conciliation.rejected_title`);
  expectNoLeak('the reasons of rejects', rows[0]?.text ?? '', secrets);
}
