import { defineConfig } from 'prisma/config';

// Only for the Prisma command line (generate, studio, migrate status); the product migrates itself.
// It keeps Prisma's record of migrations in its own schema, where the command line looks for it when
// the address says so.
const databaseUrl = process.env['DATABASE_URL'];

function inProductSchema(address: string): string {
  const url = new URL(address);
  url.searchParams.set('schema', 'conciliation');
  return url.href;
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(databaseUrl ? { datasource: { url: inProductSchema(databaseUrl) } } : {}),
});
