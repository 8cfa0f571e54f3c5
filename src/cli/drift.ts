import type { Command } from 'commander';
import type { Database } from '../database/database.ts';
import { acknowledgeDrift, type Drift, readOpenDrift } from '../ledger/drift.sql.ts';
import { reasonArgument } from './arguments.ts';
import { type CommandResult, EXIT, type Exit } from './command-run.ts';
import { operatorName } from './operator-name.ts';
import { formatCount, renderTable, right } from './output/table.ts';
import { stagingAction } from './staging-run.ts';

/** Adds the command that lists fields beyond the documented interface. */
export function addDriftCommand(program: Command, exit: Exit): void {
  const drift = program
    .command('drift')
    .description('list fields and values outside the documented interface')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Lists undocumented fields of responses with their JSON type, and undocumented values of enumerations, until a
person acknowledges them. They are kept with their titles and restate no title. They raise the alert
contract_drift until they are acknowledged.

Exit status: 0 the list is empty, 3 it needs a person.

Example: conciliation drift`,
    )
    .action(stagingAction(exit, listDrift));
  drift
    .command('acknowledge')
    .description('acknowledge everything that "drift" lists')
    .requiredOption('--reason <text>', 'your findings; kept in the audit log', reasonArgument)
    .addHelpText(
      'after',
      `
Ends the alert. The same fields and values raise no alert again; new ones do.

Example: conciliation drift acknowledge --reason "announced by the platform on 2 March"`,
    )
    .action(
      stagingAction(exit, async (database, _, { reason }: { reason: string }) => {
        const decision = { by: operatorName(), reason, seenDigest: null };
        const items = await acknowledgeDrift(database, decision);
        return {
          document: { acknowledged: items },
          text: `${driftTable(items)}\n\n${formatCount(items.length)} acknowledged by ${operatorName()}.`,
        };
      }),
    );
}

async function listDrift(database: Database): Promise<CommandResult> {
  const { items } = await readOpenDrift(database);
  if (items.length === 0) {
    return {
      document: { drift: items },
      text: 'No field or value outside the documented interface waits for a person.',
    };
  }
  return {
    document: { drift: items },
    text: `${driftTable(items)}\n\nAsk the platform what they mean; then: conciliation drift acknowledge --reason "…"`,
    exit: EXIT.needsPerson,
  };
}

function driftTable(items: readonly Drift[]): string {
  return renderTable(
    ['path', 'kind', 'value or type', 'first seen (UTC)', right('pull')],
    items.map((item) => [
      item.path,
      item.kind.replace('_', ' '),
      item.value,
      item.firstSeenAt.toISOString().slice(0, 16).replace('T', ' '),
      String(item.pullId),
    ]),
  );
}
