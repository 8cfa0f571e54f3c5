import type { Database } from '../../src/base/database/database.ts';

type Callable = (...parameters: unknown[]) => Promise<unknown>;

/** Of the client; the others are its models'. */
const STATEMENTS = new Set<PropertyKey>(['$queryRaw', '$executeRaw', '$transaction']);

/**
 * A database that calls `step` before and after each of its statements, calls of models and
 * transactions, which makes every one of them a place where the caller can be held up or die: what
 * `step` throws is what the statement throws, and ends the transaction that it is in.
 */
export function interruptible(database: Database, step: () => Promise<void>): Database {
  return { ...database, prisma: wrap(database.prisma, step) };
}

/** A client, or one of its models, whose methods are all statements. */
function wrap<Client extends object>(client: Client, step: () => Promise<void>): Client {
  const between = async (work: () => Promise<unknown>) => {
    await step();
    const result = await work();
    await step();
    return result;
  };
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      const isOfClient = typeof name !== 'string' || !/^[a-z]/.test(name);
      if (typeof member === 'object' && member !== null) {
        return isOfClient ? member : wrap(member, step);
      }
      if (typeof member !== 'function' || (isOfClient && !STATEMENTS.has(name))) return member;
      const call: Callable = member.bind(target);
      if (name !== '$transaction')
        return (...parameters: unknown[]) => between(() => call(...parameters));
      return (work: Callable, options: unknown) =>
        between(() => call((tx: object) => work(wrap(tx, step)), options));
    },
  });
}
