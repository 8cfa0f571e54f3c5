import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { FileClient } from './file-world.ts';
import { DAY } from './pull-world.ts';

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
export function canaryTitle(
  fields: {
    readonly uid?: string;
    readonly date?: CivilDate;
    readonly discount?: string;
    readonly name?: string;
    readonly more?: string;
  } = {},
): string {
  const {
    uid = 'order',
    date = DAY,
    discount = '1.00',
    name = 'Kanari Singer',
    more = '',
  } = fields;
  const account = (owner: string) =>
    `"bank":"kanari bank ${owner}","agency":"kanari agency ${owner}","agencyDigit":"kanari-x","account":"kanari account ${owner}","accountDigit":"kanari-y"`;
  return (
    `{"order":{"uid":"${uid}"},"acceptedDate":"${date}","originalValue":100.00,"platformDiscountedValue":${discount},` +
    `"financialAgent":{"type":"INDIVIDUAL","identificationNumber":"${TAX_IDS[0]}","name":${JSON.stringify(name)},` +
    `"payment":{"type":"BANK_TRANSFER",${account('agent')}}},` +
    `"buyerIdentification":"${TAX_IDS[1]}","providerExternalId":"kanari-provider","platformCommission":"kanari commission",` +
    `"provider":{"identification":"${TAX_IDS[2]}","externalId":"kanari-provider","bankAccount":{${account('provider')}}}${more}}`
  );
}

/** Every table that is not for titles, and of the rejects all but their text. */
export async function expectCleanLedger(
  administrator: FileClient,
  secrets: readonly string[],
): Promise<void> {
  const tables = ['pull', 'title_change', 'day', 'checkpoint', 'drift', 'alert', 'audit_entry'];
  for (const table of tables) {
    const { rows } = await administrator.query(
      `SELECT string_agg(to_jsonb(entry)::text, E'\\n') AS text FROM conciliation.${table} AS entry`,
    );
    expectNoLeak(`the table ${table}`, rows[0]?.text ?? '', secrets);
  }
  const { rows } = await administrator.query(
    `SELECT coalesce(string_agg(array_to_string(reasons, E'\\n'), E'\\n'), '') AS text
     FROM conciliation.rejected_title`,
  );
  expectNoLeak('the reasons of rejects', rows[0]?.text ?? '', secrets);
}
