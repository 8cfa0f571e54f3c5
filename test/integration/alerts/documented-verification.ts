import { readFile } from 'node:fs/promises';

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
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  return (await import(/* @vite-ignore */ url)).isGenuine;
}
