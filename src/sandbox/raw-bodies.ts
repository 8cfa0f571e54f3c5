import type { CivilDate } from '../domain/business-day.ts';
import type { Answer } from './answer.ts';

/** A whole conciliation answer, byte for byte, for tests of hostile ones. */
export interface RawBody {
  /** A function gives a body of any length, chunk by chunk, anew for every request. */
  readonly body: string | Uint8Array | (() => Iterable<Uint8Array>);
  /** Names in lower case; `content-type: application/json` unless told. */
  readonly headers?: Readonly<Record<string, string>>;
  /** 200 unless told. */
  readonly status?: number;
}

/** Answers that were set for the requests that name a date, in either parameter. */
export type RawBodies = Map<CivilDate, RawBody>;

export function rawAnswer(raw: RawBody): Answer {
  const { body } = raw;
  return {
    status: raw.status ?? 200,
    headers: { 'content-type': 'application/json', ...raw.headers },
    body: typeof body === 'function' ? body() : [Buffer.from(body)],
  };
}
