/**
 * `/api`: the data and actions of the pages as JSON, for scripts with a key and for signed-in
 * users. The rights are in the same table as those of the pages.
 */

import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { addApiBookingReads } from '../../features/bookings/pages/api-booking-reads.ts';
import { addApiBookings } from '../../features/bookings/pages/api-bookings.ts';
import { addApiFindings } from '../../features/checks/pages/api-findings.ts';
import { addApiMatching } from '../../features/matching/pages/api-matching.ts';
import { addApiPayables } from '../../features/matching/pages/api-payables.ts';
import { addApiSuppliers } from '../../features/providers/pages/api-suppliers.ts';
import { addApiPulls } from '../../features/review/pages/api-pulls.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { EVERYBODY, forKeys } from '../shell/route-access.ts';
import { addApiReads } from './api-reads.ts';
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
      addApiReads(api, parts);
      addApiPulls(api, parts);
      addApiFindings(api, parts);
      addApiSuppliers(api, parts);
      addApiBookings(api, parts);
      addApiPayables(api, parts);
      addApiMatching(api, parts);
      addApiBookingReads(api, parts);
      api.get('/openapi.json', { config: { access: forKeys(EVERYBODY, 'read') } }, async () =>
        server.swagger(),
      );
    },
    { prefix: '/api' },
  );
}
