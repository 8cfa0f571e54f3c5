import { join } from 'node:path';
import type { CommandUnknownOpts as Command } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { buildProgram } from '../../../src/cli/program.ts';
import { ROOT, readDocument } from './documents.ts';

const DOCUMENT = 'docs/commands.md';
const BEGIN = '<!-- begin generated: npx vitest run --project unit test/unit/docs -u -->\n';
const END = '<!-- end generated -->\n';

/** The output of `--help` on a terminal of 100 columns. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trim();
}

/** The command as it is typed, without the program's name. */
function nameOf(command: Command): string {
  const parent = command.parent;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** A command before its subcommands. */
function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

async function renderCommands(): Promise<string> {
  const program = await buildProgram(() => undefined);
  const commands = program.commands.flatMap(withSubcommands);
  const overview = commands
    .filter((command) => command.commands.length === 0)
    .map((command) => {
      const name = nameOf(command);
      return `| [\`${name}\`](#${name.replaceAll(' ', '-')}) | ${command.description()} |`;
    });
  const sections = commands.map(
    (command) =>
      `${command.parent?.parent ? '###' : '##'} ${nameOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  );
  return ['| command | does |', '| --- | --- |', ...overview, '', ...sections].join('\n');
}

test('docs/commands.md has the help of every command', async () => {
  const document = readDocument(DOCUMENT);
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  const generated = `${before}${BEGIN}\n${await renderCommands()}\n${END}${after}`;
  await expect(generated).toMatchFileSnapshot(join(ROOT, DOCUMENT));
});
