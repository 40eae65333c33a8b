import { defineConfig } from 'vitest/config'
import { LongFilesFirst } from './tests/support/long-files-first.ts'

const MINUTE_MS = 60_000

/**
 * In CI, a test with real servers that fails runs a second time, because one stall of a shared machine among thousands of tests would
 * block a landing. `.ci/run` prints every such test with its first failure: its cause has to be found.
 */
const retry = process.env['CI'] ? 1 : 0

/** These tests read what Temporal's SDK reports, and its log and metrics go to the first worker of a process. */
const OWN_PROCESS = ['tests/integration/mail/secrets.test.ts', 'tests/integration/deliveries/sweeper.test.ts']

const integration = {
  retry,
  globalSetup: 'tests/support/global-setup.ts',
  sequence: { groupOrder: 1 },
  // These tests often wait for due times and servers: three workers leave a fifth of two cores idle. With four, some time out.
  maxWorkers: 3,
}

export default defineConfig({
  test: {
    // Never `threads`: with several files that load Temporal's native worker, the run ends in SIGSEGV (exit code 139) and leaves
    // its servers behind.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: MINUTE_MS,
    hookTimeout: MINUTE_MS,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          // These files share no state, and loading the modules once per worker halves the time.
          isolate: false,
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
          globalSetup: 'tests/support/global-setup.ts',
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...integration,
          // All folders without a project of their own, so that a new folder needs no entry here.
          name: 'integration',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/{unit,tooling,simulators,workflows,faults,browser,e2e}/**', ...OWN_PROCESS],
          // Each file has records of its own. Loading the modules once per worker saves 2 s of processor time per file.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { ...integration, name: 'integration-own-process', include: OWN_PROCESS },
      },
      {
        extends: true,
        test: {
          // One file at a time: each starts a JVM that must respond within 5 s, and whose clock is global.
          name: 'workflows',
          retry,
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
          // These tests kill servers and processes of their own. Their judges read states and do not depend on clocks.
          name: 'faults',
          retry,
          include: ['tests/faults/**/*.test.ts'],
          // They load dozens of copies of the source, which would fill the cache. The processes they start still use it.
          env: { NODE_DISABLE_COMPILE_CACHE: '1' },
          sequence: { groupOrder: 3 },
          maxWorkers: 3,
          // More concurrent scenarios in one process would miss the short timeouts of their calls.
          maxConcurrency: 3,
          // Six platforms lose 28 kinds of responses each, and every loss is observed until it can no longer take effect.
          testTimeout: 15 * MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
      {
        extends: true,
        test: {
          // Tests in a browser need the whole machine to meet their deadlines.
          name: 'browser',
          retry,
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: 'tests/support/global-setup.ts',
          sequence: { groupOrder: 4 },
          maxWorkers: 1,
        },
      },
      {
        extends: true,
        test: {
          // The whole product as a new user starts it, without other tests next to it.
          name: 'e2e',
          retry,
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
