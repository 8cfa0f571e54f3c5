import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { openConsole } from '../../support/console-client.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { DAY, openPullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const HOSTILE_CELLS = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1;1)',
  '=HYPERLINK("http://evil.example";"x")',
  "=cmd|' /C calc'!A0",
  '\t=1+1',
  '\r=1+1',
  ' =1+1',
  '"=1+1',
  '＝1+1',
  '=1+1";=2+2',
  '0012345',
];

const soffice = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((path) => join(path, 'soffice'))
  .find((path) => existsSync(path));
const inOffice = soffice === undefined ? describe.skip : describe;

inOffice(
  `what LibreOffice makes of an export${soffice === undefined ? ' (skipped: no soffice on the PATH)' : ''}`,
  () => {
    const world = forFile(openPullWorld);
    const console = forFile(() => openConsole(world.database));
    const reviewer = forFile(() => console.as('reviewer'));
    const folder = forFile(openFolder);
    beforeAll(async () => {
      const texts = HOSTILE_CELLS.map((uid) => titleText({ uid, name: uid }));
      world.sandbox.setDayTexts(DAY, texts);
      await world.pull(DAY);
    });

    /** The file as LibreOffice has it once it is open, formulas as formulas. */
    async function opened(format: 'csv' | 'xlsx'): Promise<string> {
      const answer = await reviewer.post('/exports', { from: DAY, to: DAY, format });
      expect(answer.status).toBe(200);
      const file = join(folder.path, `titles.${format}`);
      await writeFile(file, answer.bytes);
      const filter =
        format === 'csv' ? ['--infilter=CSV:44,34,76,1,,0,false,true,false,false'] : [];
      await promisify(execFile)(soffice ?? '', [
        '--headless',
        `-env:UserInstallation=file://${folder.path}/profile`,
        ...filter,
        '--convert-to',
        'fods',
        '--outdir',
        folder.path,
        file,
      ]);
      return readFile(join(folder.path, 'titles.fods'), 'utf8');
    }

    test.each(['csv', 'xlsx'] as const)('no cell of %s is a formula or a link', async (format) => {
      const sheet = await opened(format);
      expect(sheet.includes('1+1')).toBe(true);
      const formulas = [...sheet.matchAll(/table:formula="([^"]*)"/g)].map((match) => match[1]);
      // How LibreOffice writes down a cell that is true or false.
      expect(formulas.filter((text) => !/^of:=(TRUE|FALSE)\(\)$/.test(text ?? ''))).toEqual([]);
      expect(sheet.match(/<text:a\s|office:dde/)).toBeNull();
    });

    test('of xlsx has every text unchanged', async () => {
      const sheet = await opened('xlsx');
      expect(sheet.includes('<text:p>=1+1</text:p>')).toBe(true);
      expect(sheet.includes('<text:p>0012345</text:p>')).toBe(true);
    });
  },
);
