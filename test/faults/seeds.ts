import type { RunCase } from './fault-names.ts';

/**
 * Runs that have found something, and what it was. A finding is mended or reported, and its seed stays
 * here, so that it is run for ever after.
 */
export const REGRESSION_SEEDS: readonly (RunCase & { readonly found: string })[] = [
  {
    seed: 147,
    point: 'before-closing-bracket',
    fault: 'kill',
    queue: 'redis',
    found: 'the harness gave up while a starved machine was still starting the next process',
  },
  {
    seed: 44_899,
    point: 'shutdown',
    fault: 'stop',
    queue: 'postgres',
    found: 'the harness took the end of a process that was still starting for a failed stop',
  },
  {
    seed: 45_001,
    point: 'commit-reply-lost',
    fault: 'network',
    queue: 'redis',
    found: 'the harness read of a commit before it heard that the point was reached, and moved on',
  },
  {
    seed: 45_014,
    point: 'shutdown',
    fault: 'queue',
    queue: 'redis',
    found: 'a service that had stopped did not end, because Redis was away while it stopped',
  },
  {
    seed: 45_022,
    point: 'shutdown',
    fault: 'queue',
    queue: 'redis',
    found: 'the same on the first day',
  },
  {
    seed: 90_035,
    point: 'shutdown',
    fault: 'stop',
    queue: 'redis',
    found: 'the harness told a service to stop that had stopped and was about to end',
  },
  {
    seed: 200_173,
    point: 'mid-body',
    fault: 'stop',
    queue: 'redis',
    found:
      'the harness signed off what the platform had restated, unasked, and took it for the latest',
  },
  {
    seed: 400_783,
    point: 'mid-copy',
    fault: 'network',
    queue: 'postgres',
    found:
      'the proxy of the harness sent bytes past others that it held back, and the JSON was whole',
  },
  {
    seed: 400_823,
    point: 'commit-reply-lost',
    fault: 'postgres',
    queue: 'postgres',
    found: 'two runs at once were told the same free port and had one PostgreSQL between them',
  },
];
