import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeCsv } from '../../../base/export/csv.ts';
import { writeJsonl } from '../../../base/export/jsonl.ts';
import type { RowBatches } from '../../../base/export/table.ts';
import { writeZip, type ZipPart } from '../../../base/export/zip.ts';
import { AUDIT_COLUMNS, EVIDENCE_COLUMNS, type Evidence } from './evidence.sql.ts';

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
    {
      path: 'audit.csv',
      bytes: () => writeCsv(AUDIT_COLUMNS, auditRows(evidence), 'pt-BR'),
    },
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

async function* auditRows({ audit }: Evidence): RowBatches {
  yield audit.map((entry) => AUDIT_COLUMNS.map(({ name }) => entry[name]));
}

function monthDocument(evidence: Evidence, made: { readonly at: Date; readonly by: string }) {
  const { seal, days, broken, auditHead } = evidence;
  const document = {
    format: FORMAT,
    madeAt: made.at,
    madeBy: made.by,
    seal,
    broken,
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
