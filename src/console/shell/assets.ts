import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { forVisitors } from './route-access.ts';

const FOLDER = new URL('../../../assets/', import.meta.url);

/** Names include a hash of the content, so browsers may cache the file without limit. */
function asset(name: string, extension: string, type: string) {
  const bytes = readFileSync(new URL(`${name}.${extension}`, FOLDER));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return { path: `/assets/${name}.${hash}.${extension}`, type, bytes };
}

/** The files for the browser. */
export const ASSETS = {
  css: asset('console', 'css', 'text/css; charset=utf-8'),
  js: asset('console', 'js', 'text/javascript; charset=utf-8'),
  icon: asset('icon', 'svg', 'image/svg+xml'),
};

export function addAssetRoutes(server: FastifyInstance): void {
  server.get<{ Params: { file: string } }>('/assets/:file', forVisitors, async (request, reply) => {
    const wanted = `/assets/${request.params.file}`;
    const known = Object.values(ASSETS).find(({ path }) => path === wanted);
    if (known === undefined) return reply.callNotFound();
    return reply
      .type(known.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(known.bytes);
  });
}
