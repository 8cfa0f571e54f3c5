import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { forVisitors } from './route-access.ts';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface Assets {
  readonly css: string;
  readonly js: string;
  readonly icon: string;
  readonly files: ReadonlyMap<string, Asset>;
}

const FOLDER = new URL('../../../assets/', import.meta.url);

let read: Assets | undefined;

/**
 * The files for the browser. Their names include a hash of the content, so browsers may cache them
 * without limit.
 */
export function readAssets(): Assets {
  if (read !== undefined) return read;
  const files = new Map<string, Asset>();
  const add = (name: string, extension: string, type: string) => {
    const bytes = readFileSync(new URL(`${name}.${extension}`, FOLDER));
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
    const file = `${name}.${hash}.${extension}`;
    files.set(file, { path: `/assets/${file}`, type, bytes });
    return `/assets/${file}`;
  };
  read = {
    css: add('console', 'css', 'text/css; charset=utf-8'),
    js: add('console', 'js', 'text/javascript; charset=utf-8'),
    icon: add('icon', 'svg', 'image/svg+xml'),
    files,
  };
  return read;
}

export function addAssetRoutes(server: FastifyInstance): void {
  server.get<{ Params: { file: string } }>('/assets/:file', forVisitors, async (request, reply) => {
    const asset = readAssets().files.get(request.params.file);
    if (asset === undefined) return reply.callNotFound();
    return reply
      .type(asset.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(asset.bytes);
  });
}
