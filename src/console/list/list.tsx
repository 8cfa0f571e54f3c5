/**
 * A list is declared once: its filter, its columns, its row and how it is read. The declaration makes the page with the
 * form of the filter, the row of sums and the numbered pages, the files of all rows, and the operation of the API.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { type Static, type TObject, Type } from 'typebox';
import { type AuditRecord, recordAudit } from '../../base/audit/audit.ts';
import type { Transaction } from '../../base/database/database.ts';
import type { Language, TextKey } from '../../base/texts/texts.ts';
import { type ConsoleRole, maySeePersonalData } from '../../base/values/role.ts';
import { type ApiTag, DEFAULT_LIMIT, declareOperation } from '../api/api-request.ts';
import { count, pageOfList } from '../api/schema-parts.ts';
import { declarePage } from '../declare.tsx';
import { type AddRoutes, type ConsoleParts, todayOf } from '../shell/console-parts.ts';
import { actorOf, type Principal } from '../shell/guard.ts';
import type { NavigationPath } from '../shell/layout.tsx';
import { type PageContext, pageContext } from '../shell/page-context.ts';
import { Card, RevealForm } from '../shell/parts.tsx';
import { EVERYBODY, forPeople } from '../shell/route-access.ts';
import { isLikeTaxId } from '../shell/search.sql.ts';
import { sendFile } from '../shell/send-file.ts';
import { type Column, ListTable, Pager, pagingOf, type Sums, type Target } from './columns.tsx';
import { encodeList, FILE_FORMATS, FileButtons, type FileFormat, fileFormatOf } from './file.tsx';
import {
  type FilterFields,
  FilterForm,
  type FilterOf,
  FilterTabs,
  parameterSchemas,
  parametersOf,
  postedParameters,
  readFilter,
} from './filter.tsx';

/** The names of lists, from the keys of their texts. */
type NameIn<Key> = Key extends `lists.${infer Name}.title` ? Name : never;
type ListName = NameIn<TextKey>;

export interface Place {
  readonly offset: number;
  readonly limit: number;
}

export interface ListTotal {
  readonly rows: number;
  /** Absent: the table has no row of sums. */
  readonly sums?: Sums;
  /** The number of rows of each tab, where the filter has tabs. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Who reads the list, and the configuration. */
interface ListReader {
  readonly actor: string;
  readonly parts: ConsoleParts;
}

/** What a page is made of. */
interface ListParts<Total extends ListTotal> {
  readonly page: PageContext;
  /** The heading and the introduction. */
  readonly head: VNode;
  readonly filter: VNode;
  /** The table with its numbered pages and files. */
  readonly table: VNode;
  readonly total: Total;
}

interface ListDeclaration<Fields extends FilterFields, Row, Total extends ListTotal> {
  /** In the audit log, and in the keys of the texts `lists.….title`, `intro` (may be absent) and `none`. */
  readonly name: ListName;
  /** The sentence in place of a table without rows. Absent: `lists.….none`. */
  readonly none?: (filter: FilterOf<Fields>, total: Total) => TextKey;
  readonly path: `/${string}`;
  readonly active: NavigationPath;
  /** Absent: every role. */
  readonly who?: readonly ConsoleRole[];
  readonly filter: Fields;
  /**
   * Returns the total, and the rows of a place in an order that the filter alone decides, as of one instant.
   * @param known the total of the filter in this transaction, which need not be read again
   */
  readonly read: (
    tx: Transaction,
    filter: FilterOf<Fields>,
    place: Place,
    reader: ListReader,
    known?: Total,
  ) => Promise<{ readonly total: Total; readonly rows: Row[] }>;
  /** Returns the filter with what the ledger or the date decides, such as the end of the last month. Absent: nothing is. */
  readonly fill?: (
    filter: FilterOf<Fields>,
    parts: ConsoleParts,
  ) => FilterOf<Fields> | Promise<FilterOf<Fields>>;
  readonly columns: readonly Column<Row>[] | ((filter: FilterOf<Fields>) => readonly Column<Row>[]);
  readonly rowsPerPage?: number;
  /**
   * The order of the rows: `sort` of a column, with `-` in front if it descends. The filter has a field `sort`, to which
   * the headings of such columns lead. Absent: the list has one order.
   */
  readonly order?: (filter: FilterOf<Fields>) => string;
  /** Returns a row as this reader may see it. Absent: the rows hold nothing that has to be masked. */
  readonly mask?: (row: Row, principal: Principal | null) => Row;
  /** The entry in the audit log, before a reader who may see personal data sees the rows of a page without masks. */
  readonly reveal?: (rows: readonly Row[], filter: FilterOf<Fields>) => Omit<AuditRecord, 'actor'>;
  /** The operation of the API: `GET /api` and the path of the page. */
  readonly api?: { readonly tag: ApiTag; readonly operationId: string; readonly summary: string };
  /** Sends a file of the selected rows. Absent: it has the columns of the list. */
  readonly file?: {
    readonly formats: readonly FileFormat[];
    readonly send: (
      request: FastifyRequest,
      reply: FastifyReply,
      parts: ConsoleParts,
      filter: FilterOf<Fields>,
      format: FileFormat,
    ) => Promise<FastifyReply>;
  };
  /** Whether work under way changes the rows: a browser asks for the page again. Absent: no. */
  readonly isUnderWay?: (rows: readonly Row[]) => boolean;
  /** Reads what else the page shows, and returns how its parts are put together. Absent: one after the other. */
  readonly layout?: (
    parts: ConsoleParts,
    filter: FilterOf<Fields>,
    request: FastifyRequest,
  ) => Promise<(page: ListParts<Total>) => VNode>;
}

export interface List<Fields extends FilterFields = FilterFields> {
  readonly addPage: AddRoutes;
  readonly addApi: AddRoutes;
  /** Returns the address of a page of the list. */
  readonly href: (filter: Partial<FilterOf<Fields>>, page?: number) => string;
}

/** The `read` of a list whose total is a statement of its own. */
export const inTwo =
  <Filter, Row, Total extends ListTotal>(
    total: (tx: Transaction, filter: Filter, reader: ListReader) => Promise<Total>,
    read: (tx: Transaction, filter: Filter, place: Place, reader: ListReader) => Promise<Row[]>,
  ) =>
  async (tx: Transaction, filter: Filter, place: Place, reader: ListReader, known?: Total) => ({
    total: known ?? (await total(tx, filter, reader)),
    rows: await read(tx, filter, place, reader),
  });

const ROWS_PER_PAGE = 50;
const REFRESH_SECONDS = 5;
const ROWS_PER_READ = 5_000;
const MAX_OFFSET = 1_000_000_000;
/** A slow download keeps its snapshot so long. */
const FILE_TIMEOUT_MS = 15 * 60_000;

/** @param schema of a row: it types the row, and is published as OpenAPI */
export function declareList<
  Fields extends FilterFields,
  Schema extends TObject,
  Total extends ListTotal = ListTotal,
>(schema: Schema, list: ListDeclaration<Fields, Readonly<Static<Schema>>, Total>): List<Fields> {
  type Row = Readonly<Static<Schema>>;
  const { path, name, reveal } = list;
  const who = list.who ?? EVERYBODY;
  const fields = Object.values(list.filter);
  const masked = (rows: Row[], { principal }: FastifyRequest) =>
    list.mask === undefined ? rows : rows.map((row) => list.mask?.(row, principal) ?? row);
  const columnsOf = (filter: FilterOf<Fields>) =>
    typeof list.columns === 'function' ? list.columns(filter) : list.columns;
  const readFilled = async (parts: ConsoleParts, source: unknown, language?: Language) => {
    const filter = readFilter(list.filter, source, language);
    return (await list.fill?.(filter, parts)) ?? filter;
  };
  const readPlace = (filter: FilterOf<Fields>, place: Place, reader: ListReader) =>
    reader.parts.database.prisma.$transaction((tx) => list.read(tx, filter, place, reader), {
      isolationLevel: 'RepeatableRead',
    });
  const href: List<Fields>['href'] = (filter, page = 1) => {
    const query = new URLSearchParams(
      parametersOf(list.filter, filter).filter(
        ([field, text]) => list.filter[field]?.look !== 'search' || !isLikeTaxId(text),
      ),
    );
    if (page > 1) query.set('page', String(page));
    return query.size === 0 ? path : `${path}?${query}`;
  };

  const targetOf = (filter: Partial<FilterOf<Fields>>, page = 1): Target => {
    const parameters = parametersOf(list.filter, filter);
    if (!parameters.some(([, text]) => isLikeTaxId(text))) return href(filter, page);
    return { action: path, parameters: [...parameters, ['page', String(page)]] };
  };

  const page = declarePage({
    path,
    who,
    active: list.active,
    input: {},
    read: async (parts, _, request, isRevealed) => {
      // A search is a form, which has no query.
      const source = Object.assign({}, request.query, request.body);
      const { language } = pageContext(request, parts.timeZone);
      const filter = await readFilled(parts, source, language);
      const reader = { parts, actor: actorOf(request) };
      const pageOf = (rows: number) => pagingOf(source, rows, list.rowsPerPage ?? ROWS_PER_PAGE);
      const asked = pageOf(MAX_OFFSET);
      const [first, layout] = await Promise.all([
        readPlace(filter, asked, reader),
        list.layout?.(parts, filter, request) ?? inOrder,
      ]);
      const { total } = first;
      const paging = pageOf(total.rows);
      const isThere = paging.page === asked.page;
      const read = isThere ? first : await readPlace(filter, paging, reader);
      const rows = isRevealed ? read.rows : masked(read.rows, request);
      return { filter, total, paging, rows, layout };
    },
    title: ({ text }) => text(`lists.${name}.title`),
    refreshSeconds: ({ rows }) => (list.isUnderWay?.(rows) ? REFRESH_SECONDS : undefined),
    reveal: reveal && (({ rows, filter }) => reveal(rows, filter)),
    body: ({ filter, total, paging, rows, layout }, page, { isRevealed }) => {
      const { text } = page;
      const title = text(`lists.${name}.title`);
      const intro = text.find(`lists.${name}.intro`);
      const here = targetOf(filter, paging.page);
      return layout({
        page,
        total,
        head: (
          <div>
            <h1>{title}</h1>
            {intro !== null && <p class="quiet">{intro}</p>}
          </div>
        ),
        filter: (
          <>
            {fields.some(({ look }) => look !== 'tabs' && look !== 'hidden') && (
              <Card title={text('filter.title')}>
                <FilterForm fields={list.filter} filter={filter} path={path} />
              </Card>
            )}
            <FilterTabs
              fields={list.filter}
              filter={filter}
              hrefOf={(change) => href({ ...filter, ...change })}
              counts={total.counts}
            />
          </>
        ),
        table:
          rows.length === 0 ? (
            <p class="quiet">
              {text(list.none === undefined ? `lists.${name}.none` : list.none(filter, total))}
            </p>
          ) : (
            <section class="card stack">
              {reveal !== undefined && (
                <RevealForm
                  action={typeof here === 'string' ? here : here.action}
                  isRevealed={isRevealed}
                />
              )}
              <ListTable
                label={title}
                columns={columnsOf(filter)}
                rows={rows}
                sums={total.sums}
                order={
                  list.order && {
                    by: list.order(filter),
                    linkTo: (sort: string) => targetOf({ ...filter, sort }),
                  }
                }
              />
              <Pager label={title} paging={paging} hrefOf={(to) => targetOf(filter, to)} />
              <FileButtons
                path={path}
                parameters={parametersOf(list.filter, filter)}
                formats={list.file?.formats}
              />
            </section>
          ),
      });
    },
  });

  const addPage: AddRoutes = (server, parts) => {
    const { prisma } = parts.database;
    page(server, parts);
    if (fields.some(({ look }) => look === 'search')) {
      server.post(path, forPeople(who), (request, reply) => {
        const { written, isPrivate } = postedParameters(list.filter, request.body);
        return isPrivate
          ? page.after(request, reply, parts, {})
          : reply.redirect(`${path}?${new URLSearchParams(written)}`, 303);
      });
    }

    server.post(`${path}/file`, forPeople(who), async (request, reply) => {
      const page = pageContext(request, parts.timeZone);
      const filter = await readFilled(parts, request.body, page.language);
      if (list.file !== undefined) {
        const format = fileFormatOf(request.body, list.file.formats);
        return list.file.send(request, reply, parts, filter, format);
      }
      const format = fileFormatOf(request.body, FILE_FORMATS);
      const reader = { parts, actor: actorOf(request) };
      // Who may see the page without masks gets such a file, with its own entry in the audit log.
      const isOpen =
        reveal !== undefined && maySeePersonalData(request.principal?.role ?? 'viewer');
      const batches = async function* (db: Transaction, total: Total, signal: AbortSignal) {
        for (let offset = 0; ; offset += ROWS_PER_READ) {
          signal.throwIfAborted();
          const place = { offset, limit: ROWS_PER_READ };
          const { rows } = await list.read(db, filter, place, reader, total);
          yield isOpen ? rows : masked(rows, request);
          if (rows.length < ROWS_PER_READ) return;
        }
      };
      return sendFile(reply, parts.logger, (signal, send) =>
        prisma.$transaction(
          async (tx) => {
            const { total } = await list.read(tx, filter, { offset: 0, limit: 1 }, reader);
            const { rows } = total;
            await recordAudit(prisma, {
              actor: reader.actor,
              action: 'list.export',
              details: { list: name, format, rows },
            });
            const title = fileName(page.text(`lists.${name}.title`));
            const content = { rows: batches(tx, total, signal), rowCount: rows, sheet: title };
            await send({
              name: `${title}-${todayOf(parts)}.${format}`,
              ...encodeList({ ...content, columns: columnsOf(filter) }, format, page),
            });
          },
          { isolationLevel: 'RepeatableRead', timeout: FILE_TIMEOUT_MS },
        ),
      );
    });
  };

  const addApi: AddRoutes =
    list.api === undefined
      ? () => {}
      : declareOperation({
          ...list.api,
          path,
          who,
          scope: 'read',
          input: { ...parameterSchemas(list.filter), ...pageOfList },
          answer: Type.Object({
            total: count,
            sums: Type.Optional(
              Type.Record(Type.String(), Type.Unknown(), {
                description: 'Over all selected rows.',
              }),
            ),
            rows: Type.Array(schema),
          }),
          run: async (parts, { offset = 0, limit = DEFAULT_LIMIT }, request) => {
            const filter = await readFilled(parts, request.query);
            const reader = { parts, actor: actorOf(request) };
            const { total, rows } = await readPlace(filter, { offset, limit }, reader);
            return {
              total: total.rows,
              ...(total.sums !== undefined && { sums: total.sums }),
              rows: masked(rows, request),
            };
          },
        });

  return { addPage, addApi, href };
}

const inOrder = ({ head, filter, table }: ListParts<ListTotal>) => (
  <>
    {head}
    {filter}
    {table}
  </>
);

/** Letters and digits without accents, which every file system takes. */
const fileName = (title: string) =>
  title
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()
    .slice(0, 31);
