/** The stored length of `provider_batch.answer`. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Returns the body as text for PostgreSQL: invalid UTF-8 and U+0000 become U+FFFD. */
export function toAnswerText(body: Buffer): string {
  return toStorableText(body.subarray(0, MAX_KEPT_BYTES).toString('utf8'));
}

/** Replaces U+0000 and lone surrogates, which JSON can express and PostgreSQL cannot hold, with U+FFFD. */
function toStorableText(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** The fields in which the body of a 200 may have a list of statuses, unless the body itself is the list. */
const LIST_FIELDS = ['providers', 'results', 'items', 'statuses'] as const;

/** Statuses that mean a provider was not accepted, in any case. Other statuses are ignored. */
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
 * Returns the providers that a 200 reports as not accepted, with the report. The documentation
 * mentions a status per provider without an example, so only an unambiguous form counts: a list of
 * objects with an `externalId` of this request and a `status` in `REFUSED_STATUSES`. Other bodies
 * and other objects are ignored.
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
