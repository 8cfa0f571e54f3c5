import { afterAll, beforeAll, expect, test } from 'vitest';
import { FEATURES } from '../../../src/app/features.ts';
import { openConsole } from '../../support/console-client.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

test.each(FEATURES)(
  'without the feature $name the pages of the other features work',
  async (left) => {
    const features = FEATURES.filter((feature) => feature !== left);
    const console = await openConsole(world.database, { features });
    try {
      const client = await console.as('reviewer');
      const pages = console.routes.filter((route) =>
        /^GET \/(?!login|logout|link)[^:]*$/.test(route),
      );
      const answers = await Promise.all(
        pages.map(async (route) => {
          const { status } = await client.get(route.slice(4));
          return `${route}: ${status}`;
        }),
      );
      expect(pages.length).toBeGreaterThan(10);
      expect(answers.filter((answer) => /: 5\d\d$/.test(answer))).toEqual([]);
      expect(console.routes.some((route) => route.endsWith('/openapi.json'))).toBe(true);
    } finally {
      await console.close();
    }
  },
);
