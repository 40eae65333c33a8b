import { defineConfig } from 'vitest/config'

const MINUTE_MS = 60_000

export default defineConfig({
  test: {
    // Never `threads`: several files that each load Temporal's native worker end such a run in SIGSEGV (exit code 139), and the
    // servers it started stay behind.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: MINUTE_MS,
    hookTimeout: MINUTE_MS,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'tooling',
          include: ['tests/tooling/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'simulators',
          include: ['tests/simulators/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          // Whatever has no project of its own: a new folder of tests is run without anybody naming it here.
          name: 'integration',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/{unit,tooling,simulators,workflows,faults,browser,e2e}/**'],
          globalSetup: 'tests/support/global-setup.ts',
          sequence: { groupOrder: 1 },
          // They mostly wait, for instants and for servers: two leave a third of two cores idle.
          maxWorkers: 3,
        },
      },
      {
        extends: true,
        test: {
          // One file at a time: each starts a JVM that has to answer within 5 s, and its clock is global to it.
          name: 'workflows',
          include: ['tests/workflows/**/*.test.ts'],
          globalSetup: 'tests/support/test-server-setup.ts',
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
          testTimeout: 2 * MINUTE_MS,
        },
      },
      {
        extends: true,
        test: {
          // Servers and processes of their own, which are killed; what they have to keep to is told by looks, not by clocks.
          name: 'faults',
          include: ['tests/faults/**/*.test.ts'],
          sequence: { groupOrder: 3 },
          maxWorkers: 3,
          // Six platforms meet 28 kinds of lost answers, each of which is looked for as long as it may still take effect.
          testTimeout: 15 * MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
      {
        extends: true,
        test: {
          // Pages that wait for a browser should not have to share the machine with others.
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: 'tests/support/global-setup.ts',
          sequence: { groupOrder: 4 },
          maxWorkers: 1,
        },
      },
      {
        extends: true,
        test: {
          // The whole product as a stranger meets it, with nothing beside it.
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          sequence: { groupOrder: 5 },
          maxWorkers: 1,
          testTimeout: 15 * MINUTE_MS,
          hookTimeout: 5 * MINUTE_MS,
        },
      },
    ],
  },
})
