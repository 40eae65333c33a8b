import { defineConfig } from 'vitest/config'
import { listGroup, listTests } from './tests/groups.ts'
import { LongestFirst } from './tests/support/longest-first.ts'

const MINUTE_MS = 60_000

const group = process.env['TEST_GROUP']

/** The test files that do not run, because their group was not asked for. */
const otherGroups = group === undefined ? [] : listOtherGroups(group)

function listOtherGroups(name: string): string[] {
  const own = new Set(listGroup(name))
  return listTests().filter((file) => !own.has(file))
}

/**
 * In CI, a test that kills processes or drives a browser and fails runs a second time, because one stall of a shared machine would block
 * a landing. `.ci/run` prints every such test with its first failure: its cause has to be found.
 */
const retry = process.env['CI'] ? 1 : 0

/** These tests read what Temporal's SDK reports, and its log and metrics go to the first worker of a process. */
const OWN_PROCESS = ['tests/integration/mail/secrets.test.ts', 'tests/integration/deliveries/sweeper.test.ts']

const FOLDERS = ['unit', 'tooling', 'simulation', 'simulators', 'workflows', 'faults', 'browser', 'e2e']

/** The files of one folder, with settings of their own. */
function folder(name: (typeof FOLDERS)[number], settings: object = {}) {
  return {
    extends: true as const,
    test: { name, include: [`tests/${name}/**/*.test.ts`], exclude: otherGroups, ...settings },
  }
}

const servers = { globalSetup: 'tests/support/global-setup.ts' }

export default defineConfig({
  test: {
    // Never `threads`: with several files that load Temporal's native worker, the run ends in SIGSEGV (exit code 139) and leaves
    // its servers behind.
    pool: 'forks',
    // Most tests wait for due times and servers now and then: with two workers, a fifth of two cores is idle. With four, some time out.
    maxWorkers: 3,
    // They only end what hangs: a busy machine takes several times as long for what usually takes seconds.
    testTimeout: 5 * MINUTE_MS,
    hookTimeout: 5 * MINUTE_MS,
    expect: { poll: { timeout: MINUTE_MS } },
    sequence: { sequencer: LongestFirst },
    projects: [
      // These files share no state, and loading the modules once per worker halves the time.
      folder('unit', { isolate: false, testTimeout: MINUTE_MS }),
      folder('tooling'),
      folder('simulation'),
      folder('simulators', servers),
      {
        extends: true,
        test: {
          ...servers,
          // All folders without a project of their own, so that a new folder needs no entry here.
          name: 'integration',
          include: ['tests/**/*.test.ts'],
          exclude: [`tests/{${FOLDERS.join(',')}}/**`, ...OWN_PROCESS, ...otherGroups],
          // Each file has records of its own or uses unique values. Loading the modules once per worker saves 2 s of processor
          // time per file.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { ...servers, name: 'integration-own-process', include: OWN_PROCESS, exclude: otherGroups },
      },
      folder('workflows', { globalSetup: 'tests/support/test-server-setup.ts' }),
      // These tests kill servers and processes of their own. Their judges read states and do not depend on clocks.
      folder('faults', {
        retry,
        // They load dozens of copies of the source, which would fill the cache. The processes they start still use it.
        env: { NODE_DISABLE_COMPILE_CACHE: '1' },
        // More concurrent scenarios in one process would miss the short timeouts of their calls.
        maxConcurrency: 3,
        // Six platforms lose 28 kinds of responses each, and every loss is observed until it can no longer take effect.
        testTimeout: 15 * MINUTE_MS,
      }),
      folder('browser', { ...servers, retry }),
      folder('e2e', { testTimeout: 15 * MINUTE_MS }),
    ],
  },
})
