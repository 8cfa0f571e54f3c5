import {
  databaseAddressFault,
  fileFault,
  type PlaintextHosts,
  redisAddressFault,
} from './address-faults.ts';
import type { EnvironmentReader } from './environment-reader.ts';
import { withPassword } from './secret-variables.ts';

/** Where the program keeps its data and its queue. */
export interface StoreConfig {
  /** With the password of DATABASE_PASSWORD_FILE. Null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** With the password of REDIS_PASSWORD_FILE. Null: the queue is in the staging database. */
  readonly redisUrl: string | null;
  /** PEM file of the certificate authority for Redis; null: the authorities of Node. */
  readonly redisCaFile: string | null;
}

export function readStores(reader: EnvironmentReader, allowed: PlaintextHosts): StoreConfig {
  return {
    databaseUrl: readDatabaseUrl(reader, allowed),
    dataDir: reader.text('DATA_DIR') ?? '.data',
    ...readRedis(reader, allowed),
  };
}

/** The addresses may hold a password. A fault describes the problem and never quotes the address. */
function readDatabaseUrl(reader: EnvironmentReader, allowed: PlaintextHosts): string | null {
  const text = reader.text('DATABASE_URL');
  const fault = text === null ? null : databaseAddressFault(text, allowed);
  if (fault !== null) reader.secretFault('DATABASE_URL', fault);
  return withPassword(reader, 'DATABASE', fault === null ? text : null);
}

function readRedis(
  reader: EnvironmentReader,
  allowed: PlaintextHosts,
): Pick<StoreConfig, 'redisUrl' | 'redisCaFile'> {
  const redisUrl = reader.text('REDIS_URL');
  const urlFault = redisUrl === null ? null : redisAddressFault(redisUrl, allowed);
  if (urlFault !== null) reader.secretFault('REDIS_URL', urlFault);
  const completeUrl = withPassword(reader, 'REDIS', urlFault === null ? redisUrl : null);
  const redisCaFile = reader.text('REDIS_CA_FILE');
  if (redisCaFile !== null) {
    const fault = fileFault(redisCaFile);
    if (fault !== null) {
      reader.problems.push(`REDIS_CA_FILE: cannot read ${redisCaFile} (${fault})`);
    }
    if (!/^rediss:/i.test(redisUrl ?? '')) {
      reader.problems.push('REDIS_CA_FILE: takes a REDIS_URL that begins with rediss://');
    }
  }
  return { redisUrl: completeUrl, redisCaFile };
}
