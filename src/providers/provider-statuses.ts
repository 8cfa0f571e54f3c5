import { toStorableText } from './answer-text.ts';

/** Where a list of statuses may stand in the body of a 200, unless the body itself is the list. */
const LIST_FIELDS = ['providers', 'results', 'items', 'statuses'] as const;

/** Statuses that say a provider was not taken, in any case. Every other one changes nothing. */
const REFUSED_STATUSES: ReadonlySet<string> = new Set([
  'REJECTED',
  'REFUSED',
  'INVALID',
  'ERROR',
  'FAILED',
]);

const DETAIL_FIELDS = ['message', 'reason', 'error'] as const;
const MAX_DETAIL_CHARACTERS = 1000;

/**
 * The providers that a 200 says were not taken, and what it says of them. The interface mentions a
 * status per provider and shows none, so only what cannot be mistaken counts: a list of objects that
 * have an `externalId` of this request and a `status` of `REFUSED_STATUSES`. In any other body, and in
 * any other object of the list, there is nothing to find.
 *
 * @returns by external id; may hold personal data
 */
export function findRefusals(body: Buffer, externalIds: ReadonlySet<string>): Map<string, string> {
  const refusals = new Map<string, string>();
  for (const entry of listsIn(parseJson(body))) {
    if (!isObject(entry)) continue;
    const { externalId, status } = entry;
    if (typeof externalId !== 'string' || !externalIds.has(externalId)) continue;
    if (typeof status !== 'string' || !REFUSED_STATUSES.has(status.toUpperCase())) continue;
    refusals.set(externalId, `the platform answered 200 with status ${status}${detailOf(entry)}`);
  }
  return refusals;
}

function listsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  return LIST_FIELDS.flatMap((field) => {
    const list = value[field];
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
}

function detailOf(entry: Readonly<Record<string, unknown>>): string {
  const details = DETAIL_FIELDS.flatMap((field) => {
    const text = entry[field];
    return typeof text === 'string' && text !== '' ? [text] : [];
  });
  if (details.length === 0) return '';
  return `: ${toStorableText(details.join('; ').slice(0, MAX_DETAIL_CHARACTERS))}`;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
