// Our side in a process of its own.
import { answerParent } from './child.mjs';
import { openEngine, pullOnce } from './engine.mjs';
import { startMeter } from './meter.mjs';
import { recordStatements } from './statement-times.mjs';

let target;
let readStatements = () => null;

answerParent({
  /**
   * The service has been running for days when a pull begins, so its code is warm: a small pull goes
   * into a database of its own first.
   */
  async open({ address, databaseUrl, warmUp, startDate, today, profile }) {
    const warm = await openEngine({ address, databaseUrl: warmUp.databaseUrl, startDate, today });
    await pullOnce(warm.parts, warmUp.window.from);
    await warm.close();
    target = await openEngine({ address, databaseUrl, startDate, today });
    if (profile) readStatements = recordStatements();
  },

  async run({ requests, pullsAtOnce }) {
    const meter = startMeter();
    const reports = [];
    const waiting = requests.values();
    const pullAll = async () => {
      for (const { window } of waiting) reports.push(await pullOnce(target.parts, window.from));
    };
    await Promise.all(Array.from({ length: pullsAtOnce }, pullAll));
    const measured = await meter.stop();
    return { ...measured, ...summarise(reports), statements: readStatements() };
  },
  async close() {
    await target.close();
  },
});

function summarise(reports) {
  const sum = (items, field) => items.reduce((total, item) => total + item[field], 0);
  const changes = ['inserted', 'changed', 'withdrawn', 'restored', 'unchanged'];
  return {
    titles: sum(reports, 'titles'),
    rejected: sum(reports, 'rejected'),
    ...Object.fromEntries(changes.map((field) => [field, sum(reports, field)])),
    outcomes: [...new Set(reports.map(({ state }) => state))],
  };
}
