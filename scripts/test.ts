/**
 * `npm test [-- <vitest arguments>]`: provides the servers that the chosen tests need, then runs vitest once.
 * `npm run test:unit`, `test:watch`, `test:changed` and `test:integration` run a part of the tests with the same arguments.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findChromium } from '../sandbox/servers/chromium.ts'
import { findFuzzer } from '../sandbox/servers/fuzzer.ts'
import { findMongod } from '../sandbox/servers/mongod.ts'
import { findObjectStorage } from '../sandbox/servers/object-storage.ts'
import { findPaymentsMock } from '../sandbox/servers/payments-mock.ts'
import { findTemporal } from '../sandbox/servers/temporal.ts'
import { findTestServer } from '../sandbox/servers/test-server.ts'
import { leashed, say } from './provision.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

const NEEDS_NO_SERVERS = /^(\.\/)?tests\/(unit|tooling|workflows)\b/
const NEEDS_BROWSER = /^(\.\/)?tests\/browser\b/
const NEEDS_PAYMENTS_MOCK = /^(\.\/)?tests\/integration(\/integrations|$|\/$)/
const NEEDS_FUZZER = /^(\.\/)?tests\/integration(\/fuzz|$|\/$)/
const NEEDS_TEST_SERVER = /^(\.\/)?tests\/workflows\b/

/** The vitest command and the tests of each npm script. Without tests, vitest runs all of them. */
const SCRIPTS: Record<string, { command: string[]; paths: string[] }> = {
  unit: { command: ['run', '--project', 'unit'], paths: ['tests/unit'] },
  watch: { command: ['watch', '--project', 'unit'], paths: ['tests/unit'] },
  integration: { command: ['run', '--project', 'integration*'], paths: ['tests/integration', 'tests/security'] },
  changed: { command: ['run', '--passWithNoTests'], paths: [] },
}

const [script = '', ...rest] = process.argv.slice(2)
const { command, paths } = SCRIPTS[script] ?? { command: ['run'], paths: [] }
const args = script in SCRIPTS ? rest : process.argv.slice(2)

try {
  const chosen = args.filter((arg) => !arg.startsWith('-'))
  const files = script === 'changed' ? await listChangedTests() : [...(chosen.length > 0 ? chosen : paths)]
  if (script === 'changed' && files.length === 0) {
    say('No test depends on the files that changed since the last commit on main.')
    process.exit(0)
  }
  await findServers(files)
  const withoutSimulators = files.length === 0 && !runsSimulators() ? ['--project', '!simulators'] : []
  runVitest([...command, ...withoutSimulators, ...(script === 'changed' ? files : []), ...args])
} catch (error) {
  say(`\n${error instanceof Error ? error.message : error}`)
  process.exit(1)
}

/** Returns the test files that import a file that differs from the last commit on main. */
async function listChangedTests(): Promise<string[]> {
  const list = ['list', '--filesOnly', '--json', '--changed', baseCommit() ?? 'HEAD']
  const { stdout } = await promisify(execFile)(process.execPath, [VITEST, ...list], { cwd: ROOT, maxBuffer: 1e8 })
  const files = JSON.parse(stdout.slice(stdout.indexOf('['))) as { file: string }[]
  return [...new Set(files.map(({ file }) => relative(ROOT, file)))]
}

/** The tests of the simulators take minutes, so they run where the simulators may have changed, and always in CI. */
function runsSimulators(): boolean {
  const base = baseCommit()
  if (process.env['CI'] || base === null || hasChanged(base, ['sandbox', 'tests/simulators'])) return true
  say(
    'The tests of the simulators are skipped, because sandbox/ is as on main: `npm test -- tests/simulators` runs them.',
  )
  return false
}

/** The last commit on main, here or at the remote; null where neither is known. */
function baseCommit(): string | null {
  for (const branch of ['main', 'origin/main']) {
    const { status, stdout } = git('rev-parse', '--verify', '--quiet', branch)
    if (status === 0) return stdout.trim()
  }
  return null
}

function hasChanged(base: string, folders: string[]): boolean {
  const isTracked = git('diff', '--quiet', base, '--', ...folders).status !== 0
  return isTracked || git('status', '--porcelain', '--', ...folders).stdout !== ''
}

function git(...gitArgs: string[]) {
  return spawnSync('git', gitArgs, { cwd: ROOT, encoding: 'utf8' })
}

/** Runs before vitest, which would otherwise overwrite the progress lines. */
async function findServers(chosen: string[]): Promise<void> {
  const all = chosen.length === 0
  if (all || chosen.some((path) => !NEEDS_NO_SERVERS.test(path))) {
    await findMongod()
    await findTemporal()
    await findObjectStorage()
  }
  if (all || chosen.some((path) => NEEDS_BROWSER.test(path))) await unlessUnavailable(findChromium)
  if (all || chosen.some((path) => NEEDS_PAYMENTS_MOCK.test(path))) await unlessUnavailable(findPaymentsMock)
  if (all || chosen.some((path) => NEEDS_FUZZER.test(path))) await unlessUnavailable(findFuzzer)
  if (all || chosen.some((path) => NEEDS_TEST_SERVER.test(path))) await findTestServer()
}

/** Some machines cannot provide this server. Only the tests that need it fail then. */
async function unlessUnavailable(find: () => Promise<string>): Promise<void> {
  await find().catch((error: unknown) => say(`\n${error instanceof Error ? error.message : error}\n`))
}

function runVitest(vitestArgs: string[]): void {
  const child = spawn(...leashed(process.execPath, [VITEST, ...vitestArgs]), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => process.exit(code ?? 1))
}
