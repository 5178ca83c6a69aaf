import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

// Tests run on the sources, so that a stale build can never be what was tested.
const alias = [
  {
    find: /^@ichor\/policy\/testing\/builder$/,
    replacement: source('policy/src/testing/builder.ts'),
  },
  { find: /^@ichor\/([a-z0-9-]+)\/testing$/, replacement: source('$1/src/testing/index.ts') },
  { find: /^@ichor\/([a-z0-9-]+)$/, replacement: source('$1/src/index.ts') },
];

// Tests without real parts may use every processor; those with them come last and have them for themselves.
const pure = { maxWorkers: '100%', sequence: { groupOrder: 1 } } as const;

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          ...pure,
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          exclude: ['**/*.laws.test.ts'],
        },
      },
      {
        resolve: { alias },
        test: {
          ...pure,
          name: 'laws',
          include: ['packages/*/src/**/*.laws.test.ts'],
          testTimeout: 300_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          include: ['packages/testbed/test/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
