import { isStorableText } from '../domain/field-reader.ts';
import { isJsonObject, type JsonValue } from '../domain/json-value.ts';
import type { PullWindow } from '../domain/plan/pull-plan.ts';
import { checkTitle, type TitleCheck } from '../platform/title-contract.ts';
import { DOCUMENTED_TITLE } from '../platform/title-extra.ts';
import { MAX_KEY_CHARACTERS } from '../platform/title-schema.ts';
import { parseExactJson } from './exact-json.ts';

type ExactTitle =
  | Extract<TitleCheck, { ok: true }>
  | (Extract<TitleCheck, { ok: false }> & {
      /** Null where the uid cannot be read or breaks the contract itself. */
      readonly orderUid: string | null;
    });

/**
 * Reads a title of any kind and checks the title against the contract.
 *
 * @param bytes one whole JSON value, see `parseExactJson`
 */
export function readExactTitle(bytes: Buffer, window: PullWindow): ExactTitle {
  const { value, problems } = parseExactJson(bytes, DOCUMENTED_TITLE);
  const check = checkTitle(value, window);
  if (problems.length === 0) return check.ok ? check : { ...check, orderUid: findOrderUid(value) };
  return {
    ok: false,
    reasons: check.ok ? problems : [...problems, ...check.reasons],
    acceptedDate: check.ok ? check.title.accepted_date : check.acceptedDate,
    orderUid: null,
  };
}

function findOrderUid(title: JsonValue): string | null {
  const order = isJsonObject(title) ? (title['order'] ?? null) : null;
  const uid = isJsonObject(order) ? order['uid'] : null;
  const isReadable =
    typeof uid === 'string' &&
    uid !== '' &&
    isStorableText(uid) &&
    uid.length <= MAX_KEY_CHARACTERS;
  return isReadable ? uid : null;
}
