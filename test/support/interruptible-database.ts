import type { Database } from '../../src/base/database/database.ts';

type Callable = (...parameters: unknown[]) => Promise<unknown>;

const STATEMENTS = new Set<PropertyKey>(['$queryRaw', '$executeRaw']);

/**
 * A database that calls `step` before and after each of its statements, calls of models and
 * transactions, which makes every one of them a place where the caller can be held up or die: what
 * `step` throws is what the statement throws, and ends the transaction that it is in.
 */
export function interruptible(database: Database, step: () => Promise<void>): Database {
  return { ...database, prisma: wrapClient(database.prisma, step) };
}

function wrapClient<Client extends object>(client: Client, step: () => Promise<void>): Client {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (STATEMENTS.has(name)) return wrapStatement((member as Callable).bind(target), step);
      if (name === '$transaction') return wrapTransaction((member as Callable).bind(target), step);
      const isModel = typeof name === 'string' && /^[a-z]/.test(name);
      return isModel && typeof member === 'object' && member !== null
        ? wrapModel(member, step)
        : member;
    },
  });
}

function wrapModel(model: object, step: () => Promise<void>): object {
  return new Proxy(model, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function'
        ? wrapStatement((member as Callable).bind(target), step)
        : member;
    },
  });
}

function wrapStatement(statement: Callable, step: () => Promise<void>): Callable {
  return async (...parameters) => {
    await step();
    const result = await statement(...parameters);
    await step();
    return result;
  };
}

function wrapTransaction(transaction: Callable, step: () => Promise<void>): Callable {
  return async (work, options) => {
    await step();
    const result = await transaction(
      (tx: object) => (work as Callable)(wrapClient(tx, step)),
      options,
    );
    await step();
    return result;
  };
}
