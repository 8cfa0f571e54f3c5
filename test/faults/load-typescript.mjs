// The harness is TypeScript, which not every Node that the project runs on reads by itself.
import { createServer } from 'vite';

/** Imports a module of this folder, and goes on serving its later imports until the process ends. */
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
