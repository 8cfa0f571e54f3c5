import { DirectLoads } from '../../src/pull/direct-loads.ts';
import type { PullParts } from '../../src/pull/pull-parts.ts';

/** Every response is staged first. */
export const alwaysStaged: PullParts['directLoads'] = {
  admits: () => false,
  withoutPauses: (response) => response,
};

/** Every response to a date without titles is loaded as it arrives, fast or not. */
export function alwaysLoaded(): { directLoads: PullParts['directLoads']; own: DirectLoads } {
  const own = new DirectLoads();
  return {
    own,
    directLoads: {
      admits: () => true,
      withoutPauses: (response) => own.withoutPauses(response),
    },
  };
}
