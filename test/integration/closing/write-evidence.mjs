// A separate process that seals a month and writes its evidence: node write-evidence.mjs <url> <month> <file>.
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { pino } from 'pino';
import { openDatabase } from '#dist/base/database/database.js';
import { parseMonth } from '#dist/features/review/months/civil-month.js';
import { readEvidence, writeEvidenceFile } from '#dist/features/review/months/evidence.sql.js';
import { sealMonth } from '#dist/features/review/months/month-seal.sql.js';

const [url = '', name = '', file = ''] = process.argv.slice(2);
const month = parseMonth(name);
if (month === null) throw new Error(`no month: ${name}`);
const database = openDatabase({
  databaseUrl: url,
  applicationName: 'evidence',
  logger: pino({ level: 'silent' }),
});
await sealMonth(database, month, { by: 'ana', reason: null, seenDigest: null });
const { signal } = new AbortController();
await readEvidence(database, { month, actor: 'ana' }, signal, (evidence) =>
  pipeline(
    writeEvidenceFile(evidence, { at: new Date(), by: 'ana', summary: '' }),
    createWriteStream(file),
  ),
);
await database.close();
