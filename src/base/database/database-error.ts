import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  ConciliationError,
  ConfigError,
  InputError,
  StagingUnavailableError,
} from '../runtime/errors.ts';
import { DescribedError } from '../runtime/logger.ts';

/**
 * Conditions that end without a change by a person, so that the same work may succeed later: lost
 * connections (08), a server that shuts down or ends the session (57P), a full server (53),
 * serialization failures and deadlocks (40001, 40P01), a statement cancelled by statement_timeout
 * or by an administrator (57014), a lock timeout (55P03), and the end of a session that was idle in
 * its transaction (25P03) or open for too long (25P04).
 */
const UNAVAILABLE_SQL_STATE = /^(08...|53...|57P..|57014|40001|40P01|55P03|25P03|25P04)$/;

/** Of a socket or the resolver, and of Prisma's adapter for a PostgreSQL that did not answer. */
const UNAVAILABLE_CODE =
  /^(ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_AGAIN$|E(HOST|NET)UNREACH$|DatabaseNotReachable$|ConnectionClosed$|SocketTimeout$)/;

/**
 * A certificate may be replaced, so these errors are temporary. At the start of a process they are refused.
 */
const UNTRUSTED_CODE = /^(ERR_TLS_|ERR_SSL_|TlsConnectionError)|CERT|^UNABLE_TO_VERIFY/;

/** `pg` gives these errors no code, and Prisma passes them on unchanged. */
const UNAVAILABLE_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

const NO_TLS_MESSAGE =
  /^(The server does not support SSL connections|There was an error establishing an SSL connection)/;

/** Prisma uses P2028 for errors of the program too. Only the text distinguishes the two cases. */
const TRANSACTION_TIMEOUT = /Unable to start a transaction in the given time|expired transaction/;

/** Conditions of the server that an operator has to know by their names. */
const CONDITIONS: Readonly<Record<string, string>> = {
  '25006': 'the database takes no writes: it is a standby, or default_transaction_read_only is on',
  '42501':
    'the database user lacks a right; as the owner of the schema, run "conciliation migrate --roles"',
  '53100': 'the disk of the server is full',
  '53300': 'the server has no free connection; max_connections is its limit',
  '55P03': 'another session has kept a lock for too long; end that session',
};

/** Whether the same work may succeed later without a change by a person. */
export function isUnavailable(error: unknown): boolean {
  const { sqlState, code } = readFacts(error);
  if (sqlState !== null) return UNAVAILABLE_SQL_STATE.test(sqlState);
  if ((code !== null && UNAVAILABLE_CODE.test(code)) || isUntrusted(error)) return true;
  if (!(error instanceof Error)) return false;
  if (code === 'P2028') return TRANSACTION_TIMEOUT.test(error.message);
  return UNAVAILABLE_MESSAGE.test(error.message);
}

/** Whether the identity of the server is uncertain. */
export function isUntrusted(error: unknown): boolean {
  const { sqlState, code } = readFacts(error);
  if (sqlState !== null || !(error instanceof Error)) return false;
  return code === null ? NO_TLS_MESSAGE.test(error.message) : UNTRUSTED_CODE.test(code);
}

/** Returns the SQLSTATE, otherwise the code of the socket or of Prisma; null: there is none. */
export function databaseErrorCode(error: unknown): string | null {
  const { sqlState, code } = readFacts(error);
  return sqlState ?? code;
}

/**
 * Returns one line that is safe to log, store and show, such as `SQLSTATE 23505,
 * constraint title_identity_key` or `ECONNREFUSED at 127.0.0.1:5432`. It never includes a message, a detail or a value.
 */
export function describeDatabaseError(error: unknown): string {
  if (error instanceof DescribedError) return error.message;
  const { sqlState, code, address, concerns } = readFacts(error);
  if (sqlState !== null) {
    const names = [`SQLSTATE ${sqlState}`, ...concerns].join(', ');
    const condition = CONDITIONS[sqlState];
    return condition === undefined ? names : `${condition} (${names})`;
  }
  if (code !== null) return address === null ? code : `${code} at ${address}`;
  if (!(error instanceof Error)) return typeof error;
  const known = UNAVAILABLE_MESSAGE.exec(error.message) ?? NO_TLS_MESSAGE.exec(error.message);
  return known?.[0] ?? error.name;
}

/**
 * Returns an error with the name and the frames of the original, and with its description and code, in place of an error
 * of the database or of the connection to it, whose text may quote a row. Other errors are returned unchanged.
 */
function withoutRowValues(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DescribedError) return error;
  const isOfDatabase =
    error instanceof pg.DatabaseError || /^(PrismaClient|DriverAdapterError)/.test(error.name);
  if (!isOfDatabase) return error;
  return new DescribedError(error, describeDatabaseError(error), databaseErrorCode(error));
}

/** Of a trigger that refuses an input. Its message is for the sender. */
const REFUSED_INPUT = 'IN001';

/**
 * Maps an error of the database, or of the connection to it, for the rest of the program: to an InputError, if a trigger
 * refused the input; to a StagingUnavailableError with the original as its cause, if the same work may succeed later;
 * otherwise to an error that quotes no row.
 */
export function toStagingError(error: unknown): unknown {
  if (error instanceof ConciliationError) return error;
  if (databaseErrorCode(error) === REFUSED_INPUT) {
    return new InputError(textOf(driverCauseOf(error), 'originalMessage') ?? '', { cause: error });
  }
  if (error instanceof Error && error.cause instanceof ConfigError) return error.cause;
  if (isUnavailable(error)) {
    const code = databaseErrorCode(error);
    const problem = `the database is not available: ${describeDatabaseError(error)}`;
    return new StagingUnavailableError(problem, { cause: error, context: code ? { code } : {} });
  }
  return withoutRowValues(error);
}

/** For work on a connection of the pool. A failure throws what `toStagingError` returns. */
export async function mapErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toStagingError(error);
  }
}

/**
 * Reads an error of PostgreSQL, `pg`, Prisma or a socket. Its message, details and metadata may quote rows. Only names
 * are passed on: the SQLSTATE if PostgreSQL itself answered, with the table, column or constraint (`table title`);
 * otherwise the code of the socket (`ECONNRESET`), the adapter (`ConnectionClosed`) or Prisma (`P2028`), in this order,
 * and the address of a failed connection.
 */
function readFacts(error: unknown) {
  const cause = driverCauseOf(error);
  const isAnswer = error instanceof pg.DatabaseError;
  const sqlState = textOf(cause, 'originalCode') ?? (isAnswer ? (error.code ?? null) : null);
  if (sqlState !== null) {
    const message = textOf(cause, 'originalMessage') ?? textOf(error, 'message') ?? '';
    return { sqlState, code: null, address: null, concerns: namesIn(sqlState, message) };
  }
  const code = textOf(cause, 'kind') ?? textOf(error, 'code') ?? textOf(error, 'errorCode');
  return { sqlState, code, address: addressOf(cause) ?? addressOf(error), concerns: [] };
}

/** The messages of a violated constraint (class 23) and of a missing right hold only names; the row is in the detail. */
function namesIn(sqlState: string, message: string): string[] {
  if (sqlState === '42501') return /(?<=^permission denied for )\w+ \w+$/.exec(message) ?? [];
  if (!sqlState.startsWith('23')) return [];
  return [...message.matchAll(/\b(relation|table|column|constraint) "(\w+)"/g)].map(
    ([, kind, name]) => `${kind === 'relation' ? 'table' : kind} ${name}`,
  );
}

/** Prisma keeps the driver's error in `meta`. The adapter's own errors have it as their cause. */
function driverCauseOf(error: unknown): object | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    return driverCauseOf(error.meta?.['driverAdapterError']);
  }
  if (error.name !== 'DriverAdapterError') return null;
  return typeof error.cause === 'object' ? error.cause : null;
}

/** Of an error of a socket, of the resolver or of Prisma's adapter; of several addresses the first. */
function addressOf(error: unknown): string | null {
  const attempt: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const host = textOf(attempt, 'hostname') ?? textOf(attempt, 'address') ?? textOf(attempt, 'host');
  if (host === null) return null;
  const port: unknown = Reflect.get(Object(attempt), 'port');
  if (typeof port !== 'number') return host;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function textOf(value: unknown, key: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const text: unknown = Reflect.get(value, key);
  return typeof text === 'string' ? text : null;
}
