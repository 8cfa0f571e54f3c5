/** The time of pages of the console, served from a process of its own and asked over HTTP, one request after another. */
import { request } from 'undici';
import { startChild } from './child.ts';
import type { ConsoleProgram } from './console-process.ts';
import { itemAt, median } from './numbers.ts';

const WARM_UP_ROUNDS = 3;

export type Page = [name: string, path: string, limitMs: number];

/** Writes a line for each page. A median over its limit makes the exit status of the process 1. */
export async function measurePages(
  databaseUrl: string,
  pages: readonly Page[],
  rounds: number,
): Promise<void> {
  const tell = (line: string) => process.stdout.write(`${line}\n`);
  const { result, stop } = await startChild<ConsoleProgram>('console-process', { databaseUrl });
  const { url, cookie } = result;
  tell(`${'page'.padEnd(36)} median ms   p95 ms   limit`);
  for (const [name, path, limitMs] of pages) {
    const times: number[] = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      const startedMs = performance.now();
      const answer = await request(url + path, { headers: { cookie, accept: 'text/html' } });
      await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      if (round >= 0) times.push(performance.now() - startedMs);
    }
    times.sort((a, b) => a - b);
    const p95 = itemAt(times, Math.floor(times.length * 0.95));
    const isOver = median(times) > limitMs;
    if (isOver) process.exitCode = 1;
    const cells = [median(times).toFixed(1).padStart(9), p95.toFixed(1).padStart(8)];
    const end = `${String(limitMs).padStart(7)}${isOver ? '  OVER' : ''}`;
    tell(`${name.padEnd(36)} ${cells.join(' ')} ${end}`);
  }
  await stop();
}
