import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { recordAudit } from '../../../base/audit/audit.ts';
import { type ChainLink, readChainHead } from '../../../base/audit/audit-chain.sql.ts';
import type { Database } from '../../../base/database/database.ts';
import { withSnapshot } from '../../../base/export/snapshot.sql.ts';
import {
  type ExportColumn,
  type ExportRow,
  type RowBatches,
  writeCsv,
  writeJsonl,
} from '../../../base/export/table.ts';
import { writeZip, type ZipPart } from '../../../base/export/zip.ts';
import { refusal } from '../../../base/texts/texts.ts';
import { type CivilDate, toCivilDate } from '../../../base/values/business-day.ts';
import { VALUE_COLUMNS } from '../../../core/title/title.ts';
import { MORE_CONTENT } from '../../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { PARTY_COLUMNS } from '../../privacy/erased-parties.sql.ts';
import { TITLE_EXPORT_COLUMNS } from '../../titles/export-titles.sql.ts';
import { pastTitles } from '../changed-titles.sql.ts';
import {
  type BrokenDay,
  type CivilMonth,
  firstDateOf,
  lastDateOf,
  type MonthSeal,
  readMonths,
  SEAL_RECORD,
  type SealRecord,
} from './month-seal.sql.ts';

/** A seal of a day with all columns, as text. */
type EvidenceDay = SealRecord & {
  readonly ended_at: string | null;
  readonly ended_by: string | null;
  readonly end_reason: string | null;
  /** The columns that the content hashes of the day cover, in their order. */
  readonly content_columns: readonly string[];
};

export interface Evidence {
  readonly seal: MonthSeal;
  readonly days: readonly EvidenceDay[];
  /** The days that break the seal now. */
  readonly broken: readonly BrokenDay[];
  /** The newest link of the audit log, which covers the entry about this file. */
  readonly auditHead: ChainLink | null;
  /** Every entry about the month or a day of it, in their order. */
  readonly audit: readonly AuditText[];
  /** The titles of a day as they stood when it was signed. May be called more than once. */
  readonly titlesOf: (day: EvidenceDay) => RowBatches;
}

/** An entry of the audit log as text; `at` is an instant in UTC with microseconds. */
type AuditText = Readonly<
  Record<
    'id' | 'at' | 'actor' | 'action' | 'date' | 'pull_id' | 'reason' | 'details',
    string | null
  >
>;

const AUDIT_SQL = `
  SELECT id::text, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, actor, action,
         date::text AS date, pull_id::text, reason, details::text
  FROM conciliation.audit_entry AS entry
  WHERE date BETWEEN $1::date AND $2::date OR action LIKE 'month.%' AND details ->> 'month' = $3
  ORDER BY entry.id`;

const VALUES: ReadonlySet<string> = new Set(VALUE_COLUMNS);

/**
 * The columns of a title in the evidence. Undocumented fields that are no content are left out: the digest does not
 * cover them, and their former values are not kept.
 */
export const EVIDENCE_COLUMNS: readonly ExportColumn[] = [
  ...TITLE_EXPORT_COLUMNS.filter(
    ({ name }) => name === 'id' || name === 'occurrence' || VALUES.has(name),
  ),
  { name: 'more_content', kind: 'text' },
  { name: 'content_hash', kind: 'text' },
  { name: 'is_erased', kind: 'boolean' },
];

/**
 * Whether the title named an erased party when it was signed, or does now: the party may be another one since,
 * and only the revisions of the title were erased.
 */
const IS_ERASED = [
  'title.erased_at IS NOT NULL',
  ...Object.values(PARTY_COLUMNS)
    .flatMap(({ names }) => names)
    .map((name) => `coalesce(past.${name} ~ '^erased-[0-9]+$', false)`),
].join(' OR ');

const cells = Prisma.raw(
  EVIDENCE_COLUMNS.map(({ name }) => {
    if (name === 'more_content') {
      return `(SELECT ${MORE_CONTENT}::text FROM (SELECT past.extra, past.accepted_date) AS stated)`;
    }
    if (name === 'content_hash') return `replace(past.content_hash::text, '-', '')`;
    return name === 'is_erased' ? `(${IS_ERASED})::text` : `past.${name}::text`;
  }).join(', '),
);

const titlesOf = (date: CivilDate, fence: bigint): Prisma.Sql => Prisma.sql`
  SELECT ${cells} ${pastTitles(date, fence)}
  ORDER BY past.order_uid COLLATE "C", past.occurrence, past.id`;

const DAYS_SQL = `
  SELECT ${SEAL_RECORD.sql} || jsonb_build_object(
           'ended_at', to_char(seal.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           'ended_by', seal.ended_by, 'end_reason', seal.end_reason) AS record
  FROM conciliation.month_seal AS month
  JOIN conciliation.sign_off AS seal ON seal.id = ANY(month.sign_off_ids)
  WHERE month.id = $1::bigint ORDER BY seal.date`;

/**
 * Calls `read` with what the newest seal of a month covers, as of one instant. The audit log records the
 * evidence before that. Titles come through a cursor, so memory does not grow with their number.
 * @throws InputError when the month is not sealed
 * @throws StagingUnavailableError when the connection to the database is lost
 * @throws ShutdownError when `signal` is aborted
 * @throws the errors of `read`
 */
export function readEvidence<T>(
  database: Database,
  request: { readonly month: CivilMonth; readonly actor: string },
  signal: AbortSignal,
  read: (evidence: Evidence) => Promise<T>,
): Promise<T> {
  const { month, actor } = request;
  return withSnapshot(database, signal, async (snapshot) => {
    const [known] = await readMonths(database.prisma, lastDateOf(month), month);
    const { seal = null, broken = [] } = known ?? {};
    if (seal === null) throw refusal('month_open', { month });
    const rows: { record: Omit<EvidenceDay, 'content_columns'> }[] = await snapshot.query(
      DAYS_SQL,
      [seal.id],
    );
    const audit: AuditText[] = await snapshot.query(AUDIT_SQL, [
      firstDateOf(month),
      lastDateOf(month),
      month,
    ]);
    await recordAudit(database.prisma, {
      actor,
      action: 'month.evidence',
      details: { month, monthSealId: seal.id, digest: seal.digest },
    });
    return read({
      seal,
      days: rows.map(({ record }) => ({ ...record, content_columns: VALUE_COLUMNS })),
      broken,
      audit,
      auditHead: await readChainHead(database),
      titlesOf: ({ date, fence }) => {
        const { text, values } = titlesOf(toCivilDate(date ?? ''), BigInt(fence ?? ''));
        return snapshot.read<ExportRow>(text, values, { rowMode: 'array' });
      },
    });
  });
}

/** Files of the program that are a part of every evidence file. */
const FIXED_FILES = ['README.md', 'LEIA-ME.md', 'verify.mjs'] as const;
const FOLDER = new URL('../../../../assets/evidence/', import.meta.url);

/** The name that `verify.mjs` expects. Another layout of the file gets another number. */
const FORMAT = 'erp-conciliation-sync month evidence 1';

/**
 * Encodes the evidence of a month as a ZIP archive: the summary for people, `month.json` with all seals, the
 * audit of the month, the titles of each day as JSON lines and as CSV for Brazil, a verifier that needs Node.js
 * alone, and the hashes of the files. Memory does not grow with the number of titles.
 * @param made.summary an HTML document
 */
export function writeEvidenceFile(
  evidence: Evidence,
  { summary, ...made }: { readonly at: Date; readonly by: string; readonly summary: string },
): AsyncGenerator<Buffer> {
  const hashes = new Map<string, string>();
  const hashed = ({ path, bytes }: ZipPart): ZipPart => ({
    path,
    bytes: () => hashing(Buffer.isBuffer(bytes) ? [bytes] : bytes(), path, hashes),
  });
  const parts: ZipPart[] = [
    ...FIXED_FILES.map((path) => ({ path, bytes: readFileSync(new URL(path, FOLDER)) })),
    { path: 'summary.html', bytes: Buffer.from(summary) },
    { path: 'month.json', bytes: Buffer.from(monthDocument(evidence, made)) },
    ...evidence.days.flatMap((day) => [
      {
        path: `titles/${day.date}.jsonl`,
        bytes: () => writeJsonl(EVIDENCE_COLUMNS, evidence.titlesOf(day)),
      },
      {
        path: `titles/${day.date}.csv`,
        bytes: () => writeCsv(EVIDENCE_COLUMNS, evidence.titlesOf(day), 'pt-BR'),
      },
    ]),
  ];
  return writeZip([
    ...parts.map(hashed),
    // The last entry: the hashes are known once all other entries are written.
    { path: 'SHA256SUMS', bytes: () => sums(hashes) },
  ]);
}

function monthDocument(evidence: Evidence, made: { readonly at: Date; readonly by: string }) {
  const { seal, days, broken, audit, auditHead } = evidence;
  const document = {
    format: FORMAT,
    madeAt: made.at,
    madeBy: made.by,
    seal,
    broken,
    audit,
    auditHead,
    columns: EVIDENCE_COLUMNS.map(({ name }) => name),
    days,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function* hashing(
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  path: string,
  hashes: Map<string, string>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  hashes.set(path, hash.digest('hex'));
}

/** In the format of `sha256sum`. */
async function* sums(hashes: ReadonlyMap<string, string>): AsyncGenerator<Buffer> {
  yield Buffer.from([...hashes].map(([path, hash]) => `${hash}  ${path}\n`).join(''));
}
