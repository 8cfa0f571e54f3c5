import type { RunCase } from './fault-names.ts';

type Row = readonly [RunCase['seed'], RunCase['point'], RunCase['fault'], RunCase['queue'], string];

/**
 * Runs that have found something, and what it was. A finding is mended or reported, and its seed stays here, so
 * that it is run for ever after.
 */
export const REGRESSION_SEEDS = (
  [
    [
      147,
      'before-closing-bracket',
      'kill',
      'redis',
      'the harness gave up while a starved machine was still starting the next process',
    ],
    [
      44_899,
      'shutdown',
      'stop',
      'postgres',
      'the harness took the end of a process that was still starting for a failed stop',
    ],
    [
      45_001,
      'commit-reply-lost',
      'network',
      'redis',
      'the harness read of a commit before it heard that the point was reached, and moved on',
    ],
    [
      45_014,
      'shutdown',
      'queue',
      'redis',
      'a service that had stopped did not end, because Redis was away while it stopped',
    ],
    [45_022, 'shutdown', 'queue', 'redis', 'the same on the first day'],
    [
      90_035,
      'shutdown',
      'stop',
      'redis',
      'the harness told a service to stop that had stopped and was about to end',
    ],
    [
      200_173,
      'mid-body',
      'stop',
      'redis',
      'the harness signed off what the platform had restated, unasked, and took it for the latest',
    ],
    [
      400_783,
      'mid-copy',
      'network',
      'postgres',
      'the proxy of the harness sent bytes past others that it held back, and the JSON was whole',
    ],
    [
      400_823,
      'commit-reply-lost',
      'postgres',
      'postgres',
      'two runs at once were told the same free port and had one PostgreSQL between them',
    ],
  ] as readonly Row[]
).map(([seed, point, fault, queue, found]) => ({ seed, point, fault, queue, found }));
