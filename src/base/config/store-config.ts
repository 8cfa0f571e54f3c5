import { databaseAddressFault, type PlaintextHosts, redisAddressFault } from './address-faults.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { withPassword } from './secret-variables.ts';

/** Where the program keeps its data and its queue. */
export interface StoreConfig {
  /** With the password of DATABASE_PASSWORD_FILE. Null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** With the password of REDIS_PASSWORD_FILE. Null: the queue is in the staging database. */
  readonly redisUrl: string | null;
}

export function readStores(reader: EnvironmentReader, allowed: PlaintextHosts): StoreConfig {
  return {
    databaseUrl: readDatabaseUrl(reader, allowed),
    dataDir: reader.text('DATA_DIR') ?? '.data',
    redisUrl: readRedisUrl(reader, allowed),
  };
}

/** The addresses may hold a password. A fault describes the problem and never quotes the address. */
function readDatabaseUrl(reader: EnvironmentReader, allowed: PlaintextHosts): string | null {
  const text = reader.text('DATABASE_URL');
  const fault = text === null ? null : databaseAddressFault(text, allowed);
  if (fault !== null) reader.secretFault('DATABASE_URL', fault);
  return withPassword(reader, 'DATABASE', fault === null ? text : null);
}

function readRedisUrl(reader: EnvironmentReader, allowed: PlaintextHosts): string | null {
  const text = reader.text('REDIS_URL');
  const fault = text === null ? null : redisAddressFault(text, allowed);
  if (fault !== null) reader.secretFault('REDIS_URL', fault);
  return withPassword(reader, 'REDIS', fault === null ? text : null);
}
