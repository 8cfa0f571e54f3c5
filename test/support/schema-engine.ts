/**
 * Prisma's schema engine as WebAssembly, on one connection that the caller owns. Prisma's command line
 * downloads the same engine as a binary; the package registry has the WebAssembly form of it.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
  bindMigrationAwareSqlAdapterFactory,
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

export interface SchemaEngineOptions {
  readonly client: pg.Client;
  /** The text of schema.prisma. */
  readonly datamodel: string;
  /** The PostgreSQL schema that holds `_prisma_migrations`; also the client's search_path. */
  readonly schemaName: string;
}

/** Opens an engine that runs every statement on `client`. */
export async function openSchemaEngine(options: SchemaEngineOptions): Promise<SchemaEngine> {
  const { SchemaEngine } = await loadEngine();
  const refuse = () => Promise.reject(new Error('the schema engine may not open connections'));
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: 'erp-conciliation-sync',
    connect: () => Promise.resolve(createAdapter(options)),
    connectToShadowDb: refuse,
  });
  // Its log repeats every script; what matters of it is in the result or the error.
  const ignoreLog = () => {};
  return SchemaEngine.new(
    { datamodels: [['schema.prisma', options.datamodel]] },
    ignoreLog,
    factory,
  );
}

/**
 * The engine needs a separate adapter: the adapter of `@prisma/adapter-pg` splits scripts at every
 * semicolon, also inside function bodies and comments, spreads them over a pool, and cannot read the
 * type "char" of PostgreSQL's catalogue.
 */
function createAdapter({ client, schemaName }: SchemaEngineOptions): SqlDriverAdapter {
  const run = async (query: SqlQuery): Promise<pg.QueryArrayResult<unknown[]>> => {
    try {
      return await client.query<unknown[]>({
        text: query.sql,
        values: query.args,
        rowMode: 'array',
        types: { getTypeParser },
      });
    } catch (error) {
      throw toDriverError(error);
    }
  };
  return {
    provider: 'postgres',
    adapterName: 'erp-conciliation-sync',
    getConnectionInfo: () => ({ schemaName, supportsRelationJoins: true }),
    queryRaw: async (query): Promise<SqlResultSet> => {
      const { fields, rows } = await run(query);
      return {
        columnNames: fields.map((field) => field.name),
        columnTypes: fields.map((field) => toColumnType(field.dataTypeID)),
        rows,
      };
    },
    executeRaw: async (query) => (await run(query)).rowCount ?? 0,
    executeScript: () => Promise.reject(new Error('the schema engine only reads here')),
    startTransaction: () => Promise.reject(new Error('the schema engine only reads here')),
    dispose: () => Promise.resolve(),
  };
}

const { builtins } = pg.types;
const CHAR_OID = 18;
const NAME_OID = 19;
const TEXT_ARRAY_OID = 1009;

/** Only the types that the engine's own queries return. */
function toColumnType(oid: number): ColumnType {
  switch (oid) {
    case builtins.BOOL:
      return ColumnTypeEnum.Boolean;
    case CHAR_OID:
      return ColumnTypeEnum.Character;
    case builtins.INT2:
    case builtins.INT4:
      return ColumnTypeEnum.Int32;
    case builtins.INT8:
    case builtins.OID:
      return ColumnTypeEnum.Int64;
    case builtins.TIMESTAMPTZ:
      return ColumnTypeEnum.DateTime;
    case TEXT_ARRAY_OID:
      return ColumnTypeEnum.TextArray;
    case NAME_OID:
    case builtins.TEXT:
    case builtins.VARCHAR:
      return ColumnTypeEnum.Text;
    default:
      throw new DriverAdapterError({ kind: 'UnsupportedNativeDataType', type: String(oid) });
  }
}

function getTypeParser(oid: number) {
  // The session's time zone is UTC, so the offset PostgreSQL writes is always +00.
  if (oid === builtins.TIMESTAMPTZ) return (text: string) => text.replace(' ', 'T').concat(':00');
  return pg.types.getTypeParser(oid);
}

function toDriverError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  return new DriverAdapterError({
    kind: 'postgres',
    code: error.code ?? 'N/A',
    severity: error.severity ?? 'N/A',
    message: error.message,
    detail: undefined,
    column: undefined,
    hint: undefined,
  });
}

interface EngineModule {
  readonly instance: { readonly exports: { readonly __wbindgen_start: () => void } };
}

// In every Node, but in the types of neither Node nor ES2023.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<EngineModule>;
};

let loaded: Promise<typeof glue> | undefined;

/** Once a process: the glue code knows a single instance. */
function loadEngine(): Promise<typeof glue> {
  loaded ??= instantiateEngine();
  return loaded;
}

async function instantiateEngine(): Promise<typeof glue> {
  // The package's own entry imports the .wasm file as a module, which Node does not do by itself.
  const glueFile = createRequire(import.meta.url).resolve(
    '@prisma/schema-engine-wasm/schema_engine_bg',
  );
  const { instance } = await WebAssembly.instantiate(
    await readFile(glueFile.replace(/\.js$/, '.wasm')),
    { './schema_engine_bg.js': withoutLingeringTimers(glue) },
  );
  // A panicking engine looks for this global and leaves its last words there.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: {
      set_message: (message: string) => {
        throw new Error(`the schema engine panicked: ${message}`);
      },
    },
  });
  (glue as typeof glue & { __wbg_set_wasm(exports: object): void }).__wbg_set_wasm(
    instance.exports,
  );
  instance.exports.__wbindgen_start();
  return glue;
}

/**
 * The engine starts a timer of ten seconds around the advisory lock and never clears it, which would
 * keep a finished command from ending.
 */
function withoutLingeringTimers(imports: object): object {
  const setTimer = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref();
  return Object.fromEntries(
    Object.entries(imports).map(([name, provided]) => [
      name,
      name.startsWith('__wbg_setTimeout_') ? setTimer : provided,
    ]),
  );
}
