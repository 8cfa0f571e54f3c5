// The harness is TypeScript, which not every Node that the project runs on reads by itself.
import { createServer } from 'vite';

// An interrupted process ends all processes that it has started: that is what 'exit' does, and what a signal
// alone would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

/**
 * Imports a module of this folder, and serves its later imports until the process ends.
 *
 * @param {string} name
 */
export async function loadTypescript(name) {
  const server = await createServer({
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  return server.ssrLoadModule(new URL(name, import.meta.url).pathname);
}
