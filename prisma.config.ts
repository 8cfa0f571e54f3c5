import { defineConfig } from 'prisma/config';

// Only for the Prisma command line (generate, studio, migrate status); the product migrates itself.
const url = process.env['DATABASE_URL'];

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url === undefined ? {} : { datasource: { url } }),
});
