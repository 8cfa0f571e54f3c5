/** The sandbox as a process, for the container tests: node process.ts <port> <control port>, which answers with a token. */
import { createServer } from 'node:http';
import { startSandbox } from './sandbox.ts';

const [port = 0, controlPort = 0] = process.argv.slice(2).map(Number);
const sandbox = await startSandbox({ port });
createServer((_, response) => response.end(sandbox.issueToken())).listen(
  controlPort,
  '127.0.0.1',
  () => process.stdout.write(`The sandbox serves at ${sandbox.baseUrl}\n`),
);
