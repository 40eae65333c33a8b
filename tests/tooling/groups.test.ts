import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { CHANGE, chooseDeepGroup, DEEP_GROUPS, findGroups, getDeepGroup, listGroup, listTests } from '../groups.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const names = Object.keys(DEEP_GROUPS)

function readText(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8')
}

/** Green runs an hour apart, the first group's first. */
function runsInOrder(order = names) {
  return Object.fromEntries(
    order.map((name, hour) => [name, { commit: `commit of ${name}`, at: `2026-01-01T0${hour}:00:00Z` }]),
  )
}

it('every test file is in exactly one group', () => {
  const several = listTests().filter((file) => findGroups(file).length !== 1)
  expect(several).toEqual([])
  const listed = [CHANGE, ...names].flatMap(listGroup).toSorted()
  expect(listed).toEqual(listTests())
})

it('every pattern of a deep group matches a test file', () => {
  const patterns = Object.values(DEEP_GROUPS).flatMap(({ files }) => files)
  expect(patterns.filter((pattern) => listTests([pattern]).length === 0)).toEqual([])
})

it('every source of a deep group exists', () => {
  const sources = Object.values(DEEP_GROUPS).flatMap((group) => group.sources)
  expect(sources.filter((path) => listTests([path]).length === 0)).toEqual([])
})

it('an unknown deep group is refused with the list of groups', () => {
  expect(() => getDeepGroup('nightly')).toThrow(`There is no deep group "nightly". The groups are ${names.join(', ')}.`)
})

it('a group without a green run on record is due first', () => {
  const { [names[2]!]: _, ...runs } = runsInOrder()
  expect(chooseDeepGroup(runs, () => true)).toEqual({ name: names[2], reason: 'it has no green run on record' })
})

it('a group whose files or sources changed is due before one with an older green run', () => {
  const changed = names[3]!
  const chosen = chooseDeepGroup(runsInOrder(), (commit, paths) => {
    expect(paths.length).toBeGreaterThan(0)
    return commit === `commit of ${changed}`
  })
  expect(chosen.name).toBe(changed)
  expect(chosen.reason).toContain('has changed since its last green run of 2026-01-01T03:00:00Z')
})

it('without a change, the group with the oldest green run is due', () => {
  const runs = runsInOrder(names.toReversed())
  expect(chooseDeepGroup(runs, () => false)).toEqual({
    name: names.at(-1),
    reason: 'its last green run, of 2026-01-01T00:00:00Z, is the oldest',
  })
})

it('the recorded green runs are of groups that exist', () => {
  const recorded = Object.keys(JSON.parse(readText('tests/deep-runs.json')) as object)
  expect(recorded.filter((name) => !names.includes(name))).toEqual([])
})

it('a pull request runs the check, npm test and every deep group', () => {
  const { jobs } = parse(readText('.github/workflows/ci.yml')) as {
    jobs: { part: { strategy: { matrix: { part: string[] } } } }
  }
  expect(jobs.part.strategy.matrix.part).toEqual([
    'run check',
    'test',
    ...names.map((name) => `run test:deep -- ${name}`),
  ])
})
