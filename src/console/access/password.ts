import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';

/** What OWASP asks of argon2id at least: 19 MiB, two passes, one lane. */
const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const;

/** Each password takes a thread and 19 MiB while it is hashed. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 20;
const MAX_WAIT_MS = 5_000;

export const MIN_PASSWORD_LENGTH = 12;
/** Argon2 reads all of it, so there is an end to what it has to read. */
export const MAX_PASSWORD_LENGTH = 256;

/** More passwords are waiting than the service hashes within a few seconds. */
export class PasswordsBusyError extends Error {
  readonly retryAfterSeconds = MAX_WAIT_MS / 1000;
}

/**
 * Argon2id in PHC format, which names its own cost, so that the cost can be raised later.
 *
 * @throws PasswordsBusyError
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const options = { ...COST, password: normalize(password), salt, outputType: 'encoded' };
  return String(await inThread({ task: 'hash', options }));
}

/** Of no password: the hash of a user who does not exist. */
const ABSENT = `$argon2id$v=19$m=${COST.memorySize},t=${COST.iterations},p=${COST.parallelism}$${base64(16)}$${base64(COST.hashLength)}`;

/**
 * Takes as long for a person who does not exist as for one who does, so that the time tells nothing.
 *
 * @param hash null: there is nobody, or nobody with a password
 * @throws PasswordsBusyError
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  if (password === '') return false;
  const options = { password: normalize(password), hash: hash ?? ABSENT };
  return (await inThread({ task: 'verify', options })) === true && hash !== null;
}

function normalize(password: string): string {
  return password.normalize('NFKC');
}

/** Random, without padding as PHC has it. */
function base64(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}

async function inThread(workerData: object): Promise<unknown> {
  await takeTurn();
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./password-worker.js', import.meta.url), {
      workerData,
      execArgv: [],
    });
    worker.once('message', resolve);
    worker.once('error', reject);
    // Only now is its memory free for the next one.
    worker.once('exit', (code) => {
      giveTurn();
      reject(new Error(`the thread that hashes a password ended with ${code}`));
    });
  });
}

let running = 0;
const waiting: (() => void)[] = [];

async function takeTurn(): Promise<void> {
  if (running < MAX_AT_ONCE) {
    running += 1;
    return;
  }
  if (waiting.length >= MAX_WAITING) throw new PasswordsBusyError();
  await new Promise<void>((resolve, reject) => {
    const turn = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(turn), 1);
      reject(new PasswordsBusyError());
    }, MAX_WAIT_MS);
    waiting.push(turn);
  });
}

/** Hands the turn to the one who has waited longest. */
function giveTurn(): void {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next();
}
