/**
 * The sandbox as a process, for the container tests: node process.ts <port> <control port>. The control port answers
 * with a token; a PUT replaces the faults.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Fault } from './faults.ts';
import { startSandbox } from './sandbox.ts';

const [port = 0, controlPort = 0] = process.argv.slice(2).map(Number);
const sandbox = await startSandbox({ port });
createServer(async (request, response) => {
  if (request.method === 'PUT') {
    const faults = (await json(request)) as Fault[];
    sandbox.faults.clear();
    sandbox.faults.add(...faults);
  }
  response.end(sandbox.issueToken());
}).listen(controlPort, '127.0.0.1', () =>
  process.stdout.write(`The sandbox serves at ${sandbox.baseUrl}\n`),
);
