/**
 * `/api`: the data and actions of the pages as JSON, for scripts with a key and for signed-in
 * users. The rights are in the same table as those of the pages.
 */

import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../shell/route-access.ts';
import { API_TAGS } from './api-request.ts';

export async function addApiRoutes(
  server: FastifyInstance,
  parts: ConsoleParts,
  version: string,
): Promise<void> {
  await server.register(fastifySwagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'erp-conciliation-sync',
        version,
        description:
          'The ledger of anticipated receivables. Amounts are exact decimals as text; dates are calendar dates.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: parts.publicUrl?.origin ?? '/', description: 'This console.' }],
      tags: Object.entries(API_TAGS).map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
  });
  await server.register(
    async (api) => {
      // Tests compare the responses with the schemas. A serializer made from the schemas would hide
      // a difference.
      api.setSerializerCompiler(() => (data) => JSON.stringify(data));
      for (const { api: operations = [], lists = [] } of parts.features) {
        for (const add of [...operations, ...lists.map(({ addApi }) => addApi)]) add(api, parts);
      }
      api.get('/openapi.json', { config: { access: forKeys(EVERYBODY, 'read') } }, async () =>
        server.swagger(),
      );
    },
    { prefix: '/api' },
  );
}
