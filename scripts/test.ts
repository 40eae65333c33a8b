/**
 * `npm test`: provides the servers that the tests need, then runs vitest. Without paths it runs what a change usually breaks.
 *
 * - `npm test -- tests/<path>` runs these files, of any group.
 * - `npm run test:deep [-- <group> ...]` runs the deep groups, or some of them, and records each that passes.
 *   `npm run test:deep -- due` runs the one that is due, or the one that the environment variable DEEP names.
 * - `npm run test:all` runs everything.
 * - `npm run test:changed` runs the tests of the files that changed since main.
 *
 * All of them pass options on to vitest. With `--save-timings` they record how long each file takes.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { format } from 'prettier'
import { findChromium } from '../sandbox/servers/chromium.ts'
import { findFuzzer } from '../sandbox/servers/fuzzer.ts'
import { findMongod } from '../sandbox/servers/mongod.ts'
import { findObjectStorage } from '../sandbox/servers/object-storage.ts'
import { findPaymentsMock } from '../sandbox/servers/payments-mock.ts'
import { findTemporal } from '../sandbox/servers/temporal.ts'
import { findTestServer } from '../sandbox/servers/test-server.ts'
import {
  CHANGE,
  chooseDeepGroup,
  DEEP_GROUPS,
  getDeepGroup,
  listGroup,
  listTests,
  type DeepRun,
} from '../tests/groups.ts'
import { leashed, say } from './provision.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const DEEP_RUNS = join(ROOT, 'tests/deep-runs.json')
const TIMINGS = join(ROOT, 'tests/timings.json')
const SAVE_TIMINGS = '--save-timings'
const DUE = 'due'

/** Integration tests in general need these three; the folders below need others instead or as well. */
const NEEDS_NO_SERVERS = /^tests\/(unit|tooling|workflows)\b/
const NEEDS_BROWSER = /^tests\/browser\b/
const NEEDS_PAYMENTS_MOCK = /^tests\/integration\/integrations\b/
const NEEDS_FUZZER = /^tests\/integration\/fuzz\b/
const NEEDS_TEST_SERVER = /^tests\/workflows\b/

/** One call of vitest. */
interface Run {
  /** The group whose files run; null for `files` alone. */
  group: string | null
  /** The files, which decide what servers are found. */
  files: string[]
  args: string[]
}

try {
  process.exitCode = await runAll(process.argv.slice(2))
} catch (error) {
  say(`\n${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

/** Runs what the command line asks for, and returns the exit code. A failing group does not keep the others from running. */
async function runAll(commandLine: string[]): Promise<number> {
  const [script = '', ...rest] = commandLine
  const options = (args: string[]) => args.filter((arg) => arg.startsWith('-'))
  const names = rest.filter((arg) => !arg.startsWith('-'))
  switch (script) {
    case 'changed':
      return runChanged(rest)
    case 'deep':
      return runGroups(names.length === 0 ? Object.keys(DEEP_GROUPS) : names.map(toGroup), options(rest))
    case 'all':
      return runGroups([CHANGE, ...Object.keys(DEEP_GROUPS)], options(rest))
    default: {
      const paths = commandLine.filter((arg) => !arg.startsWith('-'))
      if (paths.length === 0) return runGroups([CHANGE], commandLine)
      const files = listTests().filter((file) => paths.some((path) => file.includes(path.replace(/^\.\//, ''))))
      return runVitest({ group: null, files, args: ['run', ...commandLine] })
    }
  }
}

function toGroup(name: string): string {
  if (name !== DUE) return name
  const forced = process.env['DEEP']
  const { name: chosen, reason } = forced
    ? { name: forced, reason: 'DEEP names it' }
    : chooseDeepGroup(readJson<Record<string, DeepRun>>(DEEP_RUNS), hasChanged)
  say(`Deep group: ${chosen}, because ${reason}.`)
  return chosen
}

async function runGroups(names: string[], args: string[]): Promise<number> {
  for (const name of names) if (name !== CHANGE) getDeepGroup(name)
  let failed = 0
  for (const name of names) {
    if (names.length > 1) say(`\n── ${name}`)
    const workers = name === CHANGE ? [] : ['--maxWorkers', String(getDeepGroup(name).workers)]
    const commit = findTestedCommit()
    const code = await runVitest({ group: name, files: listGroup(name), args: ['run', ...workers, ...args] })
    if (code !== 0) failed = code
    else if (name !== CHANGE && !process.env['CI'] && !args.includes('-t')) await recordRun(name, commit)
  }
  return failed
}

/** Returns the commit that the working tree is; null where it has other changes than to the records of test runs. */
function findTestedCommit(): string | null {
  const records = ['tests/deep-runs.json', 'tests/timings.json'].map((path) => `:!${path}`)
  if (git('status', '--porcelain', '--', '.', ...records).stdout !== '') return null
  return git('rev-parse', 'HEAD').stdout.trim()
}

/** @param commit the tested commit before the run */
async function recordRun(name: string, commit: string | null): Promise<void> {
  if (commit === null || commit !== findTestedCommit()) {
    say(`The green run of ${name} is not recorded, because it ran changes that are not committed.`)
    return
  }
  const runs = readJson<Record<string, DeepRun>>(DEEP_RUNS)
  const at = `${new Date().toISOString().slice(0, 19)}Z`
  await writeJson(DEEP_RUNS, { ...runs, [name]: { commit, at } })
}

/** Runs the tests that import a file that differs from the last commit on main. */
async function runChanged(args: string[]): Promise<number> {
  const list = ['list', '--filesOnly', '--json', '--changed', baseCommit() ?? 'HEAD']
  const { stdout } = await promisify(execFile)(process.execPath, [VITEST, ...list], { cwd: ROOT, maxBuffer: 1e8 })
  const listed = JSON.parse(stdout.slice(stdout.indexOf('['))) as { file: string }[]
  const files = [...new Set(listed.map(({ file }) => relative(ROOT, file)))]
  if (files.length > 0) return runVitest({ group: null, files, args: ['run', ...files, ...args] })
  say('No test depends on the files that changed since the last commit on main.')
  return 0
}

/** The last commit on main, here or at the remote; null where neither is known. */
function baseCommit(): string | null {
  for (const branch of ['main', 'origin/main']) {
    const { status, stdout } = git('rev-parse', '--verify', '--quiet', branch)
    if (status === 0) return stdout.trim()
  }
  return null
}

function hasChanged(commit: string, paths: string[]): boolean {
  return git('diff', '--quiet', commit, '--', ...paths).status !== 0
}

function git(...args: string[]) {
  return spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
}

/** Runs before vitest, which would otherwise overwrite the progress lines. */
async function findServers(files: string[]): Promise<void> {
  const needs = (pattern: RegExp) => files.some((file) => pattern.test(file))
  if (files.some((file) => !NEEDS_NO_SERVERS.test(file))) {
    await findMongod()
    await findTemporal()
    await findObjectStorage()
  }
  if (needs(NEEDS_BROWSER)) await unlessUnavailable(findChromium)
  if (needs(NEEDS_PAYMENTS_MOCK)) await unlessUnavailable(findPaymentsMock)
  if (needs(NEEDS_FUZZER)) await unlessUnavailable(findFuzzer)
  if (needs(NEEDS_TEST_SERVER)) await findTestServer()
}

/** Some machines cannot provide this server. Only the tests that need it fail then. */
async function unlessUnavailable(find: () => Promise<string>): Promise<void> {
  await find().catch((error: unknown) => say(`\n${error instanceof Error ? error.message : error}\n`))
}

async function runVitest({ group, files, args }: Run): Promise<number> {
  await findServers(files)
  if (!args.includes(SAVE_TIMINGS)) return spawnVitest(group, args)
  const dir = mkdtempSync(join(tmpdir(), 'postonce-timings-'))
  const report = join(dir, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const code = await spawnVitest(group, [...args.filter((arg) => arg !== SAVE_TIMINGS), ...reporters])
    await saveTimings(report)
    return code
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Replaces the seconds of the files that ran, and drops files that are gone. */
async function saveTimings(report: string): Promise<void> {
  const { testResults } = readJson<{ testResults: { name: string; startTime: number; endTime: number }[] }>(report)
  const measured = testResults.map(({ name, startTime, endTime }) => [
    relative(ROOT, name),
    Math.max(0.1, Math.round((endTime - startTime) / 100) / 10),
  ])
  const existing = new Set(listTests())
  const timings = { ...readJson<Record<string, number>>(TIMINGS), ...Object.fromEntries(measured) }
  const current = Object.entries(timings).filter(([file]) => existing.has(file))
  await writeJson(TIMINGS, Object.fromEntries(current.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T
}

async function writeJson(path: string, value: unknown): Promise<void> {
  writeFileSync(path, await format(JSON.stringify(value), { parser: 'json' }))
}

/** Runs vitest and returns its exit code. The group reaches `vitest.config.ts` by the environment. A signal ends all groups. */
function spawnVitest(group: string | null, args: string[]): Promise<number> {
  const env = { ...process.env, ...(group === null ? {} : { TEST_GROUP: group }) }
  const child = spawn(...leashed(process.execPath, [VITEST, ...args]), { stdio: 'inherit', cwd: ROOT, env })
  let isInterrupted = false
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = (signal: NodeJS.Signals) => {
    isInterrupted = true
    child.kill(signal)
  }
  for (const signal of signals) process.on(signal, end)
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      if (isInterrupted) process.exit(code ?? 1)
      for (const signal of signals) process.off(signal, end)
      resolve(code ?? 1)
    })
  })
}
