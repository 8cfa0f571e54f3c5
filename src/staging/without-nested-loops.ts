import type { Prisma } from '../generated/prisma/client.ts';

/**
 * Runs statements that match the rows of one attempt with others. The staging tables are filled and
 * emptied all day, so their statistics say nothing about the rows at hand, and a planner that expects
 * one row compares 10,000 with 10,000 one by one: minutes, where hashing them takes a moment.
 */
export async function withoutNestedLoops(
  tx: Prisma.TransactionClient,
  work: () => Promise<void>,
): Promise<void> {
  await tx.$executeRaw`SET LOCAL enable_nestloop = off`;
  await work();
  await tx.$executeRaw`SET LOCAL enable_nestloop TO DEFAULT`;
}
