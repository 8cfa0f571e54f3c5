// Generates the Prisma client without Prisma's schema engine: its binary is downloaded at install
// time, which fails in a closed network, and generating a client never runs it. Naming any existing
// program stops the download; nothing executes it.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status, stderr } = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', ...process.env },
});
if (status !== 0) {
  process.stderr.write(stderr ?? 'prisma could not be started\n');
  process.exit(status ?? 1);
}

// The client does not know which fields have the type `date`, for src/base/database/civil-dates.ts.
const schema = readFileSync(new URL('../prisma/schema.prisma', import.meta.url), 'utf8');
const jsonFields = new Set();
/** @type {Record<string, Record<string, string>>} */
const dateFields = {};
for (const [, model = '', body = ''] of schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)) {
  if (/^\s*@@ignore/m.test(body)) continue;
  /** @type {Record<string, string>} */
  const fields = {};
  for (const [, name = '', type, mark, rest = ''] of body.matchAll(
    /^ {2}(\w+) +(\w+)(\??)(.*)$/gm,
  )) {
    if (type === 'Json') jsonFields.add(name);
    if (rest.includes('@db.Date')) fields[name] = mark === '?' ? 'optional' : 'required';
  }
  if (Object.keys(fields).length === 0) continue;
  dateFields[model.charAt(0).toLowerCase() + model.slice(1)] = fields;
}
writeFileSync(
  new URL('../src/generated/schema-fields.ts', import.meta.url),
  `/** By model, the fields with @db.Date. */
export const DATE_FIELDS = ${JSON.stringify(dateFields)} as const;
/** The fields of type Json, of any model. */
export const JSON_FIELDS: readonly string[] = ${JSON.stringify([...jsonFields])};
`,
);
