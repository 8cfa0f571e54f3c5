import { toStagingError } from './database.ts';

/** Runs work on the database and gives its failures the product's names. */
export async function inStaging<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStagingError(error);
  }
}
