// The promise of the feed under load and faults: npm run feed -- --minutes 10 [--seed n]
import { runnerImport } from 'vite';

// An interrupted process ends all processes that it has started: that is what 'exit' does, and what a signal
// alone would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

// The harness is TypeScript, which not every Node that the project runs on reads by itself.
const { module } = await runnerImport(new URL('feed.ts', import.meta.url).pathname, {
  configFile: false,
});
const { runFeed } = /** @type {typeof import('./feed.ts')} */ (module);
process.exit(await runFeed(process.argv.slice(2)));
