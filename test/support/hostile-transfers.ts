import { gzipSync } from 'node:zlib';
import {
  breaksContract,
  documentWith,
  type Expected,
  type HostileResponse,
  merged,
  sends,
  spoils,
  unavailable,
} from './hostile-responses.ts';
import type { Fault } from './sandbox/faults.ts';

/** The silence that a client of these cases bears, and one that is well within it. */
const PATIENCE_MS = 400;

function spoilsImpatient(name: string, fault: Fault, expected: Expected): HostileResponse {
  const response = spoils(name, fault, expected);
  return {
    ...response,
    serve(stage, date) {
      void response.serve(stage, date);
      return { platform: stage.openClient({ timeoutMs: PATIENCE_MS }) };
    },
  };
}

/** Answers on a connection that shows something else than `test/integration/platform` does. */
export const HOSTILE_TRANSFERS: readonly HostileResponse[] = [
  sends(
    'a gzip stream that no header announces',
    (date) => gzipSync(documentWith(date)),
    breaksContract(/not a JSON object/),
  ),
  sends(
    'a gzip stream that grows a thousandfold',
    (date) => gzipSync(documentWith(date).replace('[', `[${' '.repeat(8 * 1024 * 1024)}`)),
    merged(),
    { 'content-encoding': 'gzip' },
  ),
  spoilsImpatient(
    'silence after the whole document',
    { kind: 'stall', afterBytes: 1e6 },
    unavailable(/sent nothing for 0\.4 seconds/),
  ),
  spoilsImpatient(
    'a slow drip that takes longer than any silence may',
    { kind: 'drip', bytes: 60, everyMs: 20 },
    merged(),
  ),
  spoils('a few bytes at a time', { kind: 'drip', bytes: 5, everyMs: 0 }, merged()),
  {
    name: 'an unknown host',
    serve: async (stage) => ({
      platform: stage.openClient({ baseUrl: new URL('http://platform.invalid') }),
    }),
    expected: unavailable(/no answer from the platform \((ENOTFOUND|EAI_AGAIN)\)/),
    requests: 0,
  },
];
