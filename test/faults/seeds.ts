import type { RunCase } from './fault-names.ts';

/**
 * Runs that have found something, and what it was. A finding is mended or reported, and its seed stays
 * here, so that it is run for ever after.
 */
export const REGRESSION_SEEDS: readonly (RunCase & { readonly found: string })[] = [];
