import { afterAll, beforeAll } from 'vitest';
import { openPullWorld, type PullWorld, type PullWorldOptions } from './pull-world.ts';
import { openPushWorld, type PushWorld, type PushWorldOptions } from './push-world.ts';

/** The world of all tests of a file. */
export function pullWorldOfFile(options: PullWorldOptions = {}): PullWorld {
  const world = {} as PullWorld;
  beforeAll(async () => void Object.assign(world, await openPullWorld(options)));
  afterAll(() => world.close());
  return world;
}

/** The world of all tests of a file. Its platform is another one after each `begin`. */
export function pushWorldOfFile(options: PushWorldOptions = {}): PushWorld {
  const world = {} as PushWorld;
  beforeAll(async () => {
    const opened = await openPushWorld(options);
    Object.defineProperties(world, Object.getOwnPropertyDescriptors(opened));
  });
  afterAll(() => world.close());
  return world;
}
