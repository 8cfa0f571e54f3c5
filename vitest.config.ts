import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'container',
          include: ['test/container/**/*.test.ts'],
          globalSetup: ['test/support/container-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          // After the others, whose timing would suffer beside so many servers.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
