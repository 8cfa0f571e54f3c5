// The promise of the feed under load and faults: npm run feed -- --minutes 10 [--seed n]
import { createServer } from 'vite';

// An interrupted process ends all processes that it has started: that is what 'exit' does, and what a signal
// alone would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

// The harness is TypeScript, which not every Node that the project runs on reads by itself.
const server = await createServer({
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const { runFeed } = await server.ssrLoadModule(new URL('feed.ts', import.meta.url).pathname);
process.exit(await runFeed(process.argv.slice(2)));
