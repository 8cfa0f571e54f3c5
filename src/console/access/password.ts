import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const;

const MAX_WAITING = 20;
const MAX_WAIT_MS = 5_000;

/**
 * The pause after each password. With the pause, a flood of sign-ins takes about a quarter of one processor from the
 * pulls, because a hash takes about 100 ms of CPU time. The pause does not depend on the measured time of a hash:
 * beside a pull that uses all processors, a hash takes seconds and little CPU time.
 */
const PAUSE_MS = 300;

export const MIN_PASSWORD_LENGTH = 12;
/** A limit for the input of Argon2, in characters. */
export const MAX_PASSWORD_LENGTH = 256;

/**
 * A new password needs more guesses. An attacker with the hash makes fewer than 10,000 guesses a
 * second, so that 10^10 take days (zxcvbn, its strongest class).
 */
const MIN_GUESSES = 1e10;
/** Words that an attacker of this console tries first. */
const WORDS_OF_PRODUCT = ['conciliation', 'conciliacao', 'conciliação', 'reconciliation', 'erp'];

/** More passwords wait than the service can hash in a few seconds. */
export class PasswordsBusyError extends Error {
  readonly retryAfterSeconds = MAX_WAIT_MS / 1000;
}

/**
 * Returns an argon2id hash (RFC 9106) in PHC format. The format includes the cost, so that it can
 * be raised later.
 * @throws PasswordsBusyError
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const options = { ...COST, password: normalize(password), salt, outputType: 'encoded' };
  return String(await inThread({ task: 'hash', options }));
}

/** The hash for users who do not exist. No password matches it. */
const ABSENT = `$argon2id$v=19$m=${COST.memorySize},t=${COST.iterations},p=${COST.parallelism}$${base64(16)}$${base64(COST.hashLength)}`;

/**
 * Takes the same time for existing and for unknown users, so that the time reveals nothing.
 * @param hash null: the user does not exist or has no password
 * @throws PasswordsBusyError
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  if (password === '') return false;
  const options = { password: normalize(password), hash: hash ?? ABSENT };
  return (await inThread({ task: 'verify', options })) === true && hash !== null;
}

/**
 * Whether a password is too easy to guess: one of the common passwords, or made of common words,
 * names, dates, repetitions or keyboard patterns, as zxcvbn estimates. The words and names are Portuguese;
 * of English, the list has the words of Diceware.
 * @param owner the name and the e-mail address of the user; a password made of their parts is weak
 * @throws PasswordsBusyError
 */
export async function isGuessable(
  password: string,
  owner: { readonly name: string; readonly email: string | null },
): Promise<boolean> {
  const parts = `${owner.name} ${owner.email ?? ''}`.split(/[\s._@+-]+/);
  const words = [...parts, owner.name, ...WORDS_OF_PRODUCT].filter(({ length }) => length > 2);
  const options = { password: normalize(password), words };
  return Number(await inThread({ task: 'guesses', options })) < MIN_GUESSES;
}

function normalize(password: string): string {
  return password.normalize('NFKC');
}

/** Random bytes, without padding as in the PHC format. */
function base64(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}

interface Task {
  readonly request: object;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** The passwords that wait, the longest first. */
const waiting: Task[] = [];
let isRunning = false;

function inThread(request: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (waiting.length >= MAX_WAITING) throw new PasswordsBusyError();
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(task), 1);
      reject(new PasswordsBusyError());
    }, MAX_WAIT_MS);
    const task = { request, resolve, reject, timer };
    waiting.push(task);
    if (!isRunning) void runThread();
  });
}

/**
 * Hashes all waiting passwords in one thread, one at a time, and ends the thread when none waits after a pause: the
 * start of a thread takes more CPU time than a hash, and only its end frees all of its memory. The passwords of one
 * form follow within the pause and use the same thread.
 */
async function runThread(): Promise<void> {
  isRunning = true;
  let thread: ReturnType<typeof startThread> | null = null;
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    clearTimeout(task.timer);
    try {
      thread ??= startThread();
      thread.worker.postMessage(task.request);
      const [answer] = await Promise.race([once(thread.worker, 'message'), thread.ended]);
      task.resolve(answer);
      await sleep(PAUSE_MS);
    } catch (error) {
      task.reject(error);
      await thread?.worker.terminate();
      thread = null;
    }
  }
  await thread?.worker.terminate();
  isRunning = false;
  if (waiting.length > 0) void runThread();
}

/** `ended` rejects with the error of the thread. */
function startThread() {
  const worker = new Worker(new URL('./password-worker.js', import.meta.url), { execArgv: [] });
  const ended = once(worker, 'exit').then(([code]): never => {
    throw new Error(`the thread that hashes passwords ended with ${code}`);
  });
  return { worker, ended };
}
