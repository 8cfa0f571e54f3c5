import { Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { words } from '../../console/api/schema-parts.ts';
import { declareAction, declarePage, reason } from '../../console/declare.tsx';
import { type Column, TableCard } from '../../console/list/columns.tsx';
import type { Feature } from '../../console/shell/console-parts.ts';
import { Card } from '../../console/shell/parts.tsx';
import { ADMINISTER } from '../../console/shell/route-access.ts';
import { FIELD_ROLES, type FieldRole } from '../../core/title/promoted-fields.ts';
import { promoteField } from './promoted-fields.sql.ts';

const PATH = '/fields';
const ENDED = 'ended';
const ROLES = [...FIELD_ROLES, ENDED] as const;

const PROMOTE = declareAction({
  path: PATH,
  who: ADMINISTER,
  input: {
    name: Type.String(),
    path: Type.String(),
    role: words(ROLES),
    reason,
  },
  fields: {
    name: { label: 'fields.name', html: { pattern: '[a-z][a-z0-9_]*', maxLength: 40 } },
    path: { label: 'fields.path', html: { list: 'unknown-paths' } },
    role: {
      label: 'fields.role',
      choices: ROLES.map((role) => [role, `fields.roles.${role}`] as const),
    },
  },
  deed: ({ database }, { name, path, role, reason }, by) =>
    promoteField(database, { name, path, role: role === ENDED ? null : role }, { by, reason }),
  next: () => PATH,
  notice: 'field_promoted',
});

const readRows = ({ prisma }: Database) =>
  prisma.promotedField.findMany({ orderBy: { version: 'desc' } });
type Row = Awaited<ReturnType<typeof readRows>>[number];

/** Undocumented fields that titles have had. */
const readUnknownPaths = async ({ prisma }: Database): Promise<string[]> => {
  const rows = await prisma.drift.findMany({
    where: { kind: 'unknown_field', path: { startsWith: 'titles[].' } },
    select: { path: true },
    distinct: ['path'],
    orderBy: { path: 'asc' },
  });
  return rows.map(({ path }) => path.replace('titles[].', ''));
};

const COLUMNS: readonly Column<Row>[] = [
  { name: 'version', head: 'fields.version', kind: 'count' },
  { name: 'name', head: 'fields.name', isHead: true },
  { name: 'path', head: 'fields.path', value: ({ path }) => path.join('.') },
  {
    name: 'role',
    head: 'fields.role',
    word: ({ role }) => `fields.roles.${(role as FieldRole | null) ?? ENDED}`,
  },
  { name: 'recorded_at', head: 'fields.recordedAt', kind: 'instant' },
  { name: 'recorded_by', head: 'fields.recordedBy', kind: 'author' },
  { name: 'reason', head: 'day.reason' },
];

/** Every promotion, the newest first, and the form for another one. */
const FIELDS = declarePage({
  path: PATH,
  active: PATH,
  input: {},
  read: async ({ database }) => ({
    rows: await readRows(database),
    paths: await readUnknownPaths(database),
  }),
  title: ({ text }) => text('fields.title'),
  body: ({ rows, paths }, page) => {
    const { text } = page;
    return (
      <>
        <div>
          <h1>{text('fields.title')}</h1>
          <p class="quiet">{text('fields.intro')}</p>
        </div>
        <TableCard head="fields.title" columns={COLUMNS} rows={rows} />
        {PROMOTE.isOffered(page) && (
          <Card title={text('fields.promote')}>
            <p class="quiet">{text('fields.help')}</p>
            <PROMOTE.Form button={text('fields.promote')} look="primary" class="filters">
              <datalist id="unknown-paths">
                {paths.map((path) => (
                  <option key={path} value={path} />
                ))}
              </datalist>
            </PROMOTE.Form>
          </Card>
        )}
      </>
    );
  },
});

export const fields: Feature = {
  name: 'fields',
  pages: [FIELDS],
  actions: [PROMOTE],
};
