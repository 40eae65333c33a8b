/**
 * Which tests run when. `npm test` runs what a change usually breaks: every file that no deep group takes. `npm run test:deep` runs the
 * deep groups, each in less than ten minutes on two cores, and `.ci/run` runs one of them. `tests/tooling/groups.test.ts` checks that
 * every file is in exactly one group.
 */
import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** The group of `npm test`. */
export const CHANGE = 'change'

export interface DeepGroup {
  /** Globs of its test files. */
  files: readonly string[]
  /** The code that it guards, as paths for git: after a change there, the group is due first. */
  sources: readonly string[]
  /** How many of its files run concurrently on two cores. */
  workers: number
}

export const DEEP_GROUPS: Readonly<Record<string, DeepGroup>> = {
  // Processes and servers that are killed under load, and every kind of lost response on every platform.
  faults: {
    files: ['tests/faults/{load,matrix,restore,scenarios,upgrade}.test.ts'],
    sources: [
      'src/activities',
      'src/workflows',
      'src/store',
      'src/platforms',
      'src/worker',
      'src/worker.ts',
      'tests/faults',
    ],
    workers: 3,
  },
  // Requests and deliveries that meet, and the guards against that, each removed once.
  races: {
    files: ['tests/integration/races/*.test.ts', 'tests/faults/planted.test.ts'],
    sources: ['src/activities', 'src/commands', 'src/domain', 'src/store', 'src/platforms/shared', 'tests/faults'],
    // The copies of the source without guards are loaded meanwhile, and more load makes their clients miss the first answer of the database.
    workers: 2,
  },
  // Each guard of deliveries, removed once in the simulation, and outages of hours, which keep a core busy all the time.
  simulation: {
    files: ['tests/simulation/{guards,outages}.test.ts'],
    sources: [
      ...['src/activities/publishing', 'src/domain/posts', 'src/store/posts', 'src/workflows/publishing'],
      ...['src/platforms', 'tests/simulation'],
    ],
    workers: 1,
  },
  // The whole service with each platform and several accounts, and long waits.
  deliveries: {
    files: [
      'tests/integration/deliveries/{bluesky,facebook,instagram,mastodon,threads,tumblr}.test.ts',
      'tests/integration/deliveries/{accounts,early-armed,equal-posts,fairness,figures,hanging,judged,large-video}.test.ts',
      'tests/integration/deliveries/{long-history,mixes,prepared-ahead,publication-quota,temporal-loss}.test.ts',
    ],
    sources: ['src/activities/publishing', 'src/workflows/publishing', 'src/platforms', 'src/integrations/temporal'],
    workers: 3,
  },
  // Processes that start, stop and are killed, and servers that are away.
  outages: {
    files: [
      'tests/integration/processes/{lifecycle,readiness}.test.ts',
      'tests/integration/{analytics,billing}/killed.test.ts',
      'tests/integration/{billing,realtime,store}/outage.test.ts',
      'tests/integration/quotas/killed-processes.test.ts',
      'tests/integration/realtime/{fleet,paused}.test.ts',
      'tests/faults/outages.test.ts',
    ],
    sources: [
      ...[
        'src/activities/publishing',
        'src/flow',
        'src/store',
        'src/server.ts',
        'src/worker.ts',
        'src/readiness.ts',
        'src/api/realtime',
        'src/domain/quotas',
      ],
      ...['src/activities/analytics', 'src/activities/billing'],
    ],
    workers: 3,
  },
  // Hostile, huge and generated input.
  security: {
    files: [
      'tests/security/{bombs,hostile-input,hostile-texts,large-records,linear-time}.test.ts',
      'tests/integration/fuzz/*.test.ts',
    ],
    sources: ['src/api', 'src/security', 'src/domain', 'src/platforms/shared', 'docs/openapi.json'],
    workers: 3,
  },
  // Installed packages, pages in a browser, and the platform simulators.
  clients: {
    files: [
      'tests/simulators/*.test.ts',
      'tests/integration/mcp/*.test.ts',
      'tests/integration/sdk/command-line.test.ts',
      'tests/{browser,e2e}/*.test.ts',
    ],
    sources: ['packages', 'sandbox', 'scripts', 'src/api', 'README.md', 'docs/guide'],
    // A browser needs the whole machine to meet its deadlines, and so does the product as a new user starts it.
    workers: 1,
  },
}

/** Returns the paths of the test files that match, relative to the project's root. */
export function listTests(globs: readonly string[] = ['tests/**/*.test.ts']): string[] {
  return globSync([...globs], { cwd: ROOT }).toSorted()
}

/** Returns the names of all groups that take a test file. A right division returns one. */
export function findGroups(file: string): string[] {
  const deep = Object.entries(DEEP_GROUPS).filter(([, { files }]) => files.some((glob) => matchesGlob(file, glob)))
  return deep.length === 0 ? [CHANGE] : deep.map(([name]) => name)
}

/** Returns the test files of a group. */
export function listGroup(name: string): string[] {
  return listTests().filter((file) => findGroups(file).includes(name))
}

/** @throws Error if no deep group has this name */
export function getDeepGroup(name: string): DeepGroup {
  const group = DEEP_GROUPS[name]
  if (group) return group
  throw new Error(`There is no deep group "${name}". The groups are ${Object.keys(DEEP_GROUPS).join(', ')}.`)
}

/** The last green run of a group: its commit and time. */
export interface DeepRun {
  commit: string
  at: string
}

/**
 * Returns the deep group to run next and the reason: one whose files or sources have changed since its last green run, otherwise any; of these, the
 * one that has not been green for the longest time.
 *
 * @param runs the last green run of each group, by its name
 * @param hasChanged whether one of these paths differs from a commit; true where the commit is unknown
 */
export function chooseDeepGroup(
  runs: Readonly<Record<string, DeepRun>>,
  hasChanged: (commit: string, paths: string[]) => boolean,
): { name: string; reason: string } {
  const candidates = Object.entries(DEEP_GROUPS).map(([name, { files, sources }]) => {
    const run = runs[name]
    const isTouched = run === undefined || hasChanged(run.commit, [...listTests(files), ...sources])
    return { name, isTouched, at: run?.at ?? '' }
  })
  const [first] = candidates.toSorted(
    (a, b) => Number(b.isTouched) - Number(a.isTouched) || (a.at < b.at ? -1 : a.at > b.at ? 1 : 0),
  )
  const { name, isTouched, at } = first!
  if (at === '') return { name, reason: 'it has no green run on record' }
  return {
    name,
    reason: isTouched
      ? `what it guards has changed since its last green run of ${at}`
      : `its last green run, of ${at}, is the oldest`,
  }
}
