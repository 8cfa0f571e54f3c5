import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type IsGenuine = (
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
  nowMs?: number,
) => boolean;

/** The receiver's check of a signature, as docs/operating.md has it. */
export async function importDocumentedVerification(): Promise<IsGenuine> {
  const document = await readFile('docs/operating.md', 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'conciliation-verification-'));
  try {
    const file = join(folder, 'verification.mjs');
    await writeFile(file, code);
    const { isGenuine } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
      isGenuine: IsGenuine;
    };
    return isGenuine;
  } finally {
    await rm(folder, { recursive: true });
  }
}
