import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { findOnPath, run } from '../../../scripts/provision.mjs'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const PROJECT_ROOT = join(import.meta.dirname, '../../..')
const PROGRAM = `const [name]: string[] = process.argv.slice(2)
console.log('Hello ' + name + ' from Node ' + process.versions.node.split('.')[0])
process.exitCode = 7
`

const MANIFEST = { name: 'tiny', version: '1.0.0', dependencies: { greeting: 'file:greeting' } }

/** An installation takes a second, or a minute on a busy machine. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const installed = mkdtempSync(join(tmpdir(), 'postonce-packages-'))
afterAll(() => rmSync(installed, { recursive: true, force: true }))

let root: string

/** A project with one package, started by the real scripts. */
beforeEach(() => {
  root = temporaryFolder()
  mkdirSync(join(root, 'scripts'))
  for (const file of ['run.mjs', 'provision.mjs']) {
    cpSync(join(PROJECT_ROOT, 'scripts', file), join(root, 'scripts', file))
  }
  writeFileSync(join(root, 'hello.ts'), PROGRAM)
  mkdirSync(join(root, 'greeting'))
  writeFileSync(join(root, 'greeting', 'package.json'), JSON.stringify({ name: 'greeting', version: '1.0.0' }))
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...MANIFEST, type: 'module' }))
  writeLockfile({})
})

function writeLockfile(more: object): void {
  const packages = {
    '': MANIFEST,
    greeting: { version: '1.0.0' },
    'node_modules/greeting': { resolved: 'greeting', link: true },
  }
  const lockfile = { name: 'tiny', version: '1.0.0', lockfileVersion: 3, requires: true, packages, ...more }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lockfile))
}

/** Installs the packages of the project. All tests but the first copy them with their stamp, because npm takes long. */
async function installPackages(): Promise<void> {
  const [own, shared] = [root, installed].map((folder) => join(folder, 'node_modules')) as [string, string]
  const options = { recursive: true, verbatimSymlinks: true }
  if (existsSync(shared)) return cpSync(shared, own, options)
  await start(['hello.ts'])
  cpSync(own, shared, options)
}

async function start(args: string[], { env = {}, node = process.execPath } = {}) {
  const child = spawn(node, ['scripts/run.mjs', ...args], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'development', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { stdout, stderr, code: code as number | null }
}

test('the first start installs the packages, and later starts do not mention them', async () => {
  const first = await start(['hello.ts', 'Ada'])
  expect(first.stderr).toContain('Installing the locked packages')
  expect(first.stdout).toMatch(/^Hello Ada from Node \d+\n$/)
  expect(await start(['hello.ts', 'Ada'])).toEqual({ stdout: first.stdout, stderr: '', code: 7 })
})

test('packages are installed again after a change of the Node version', async () => {
  await installPackages()
  const stamp = join(root, 'node_modules', '.postonce.json')
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(/"node":\d+/, '"node":18'))
  expect((await start(['hello.ts'])).stderr).toContain('Installing the locked packages')
})

test('a lockfile that npm changed together with the packages needs no other installation', async () => {
  await installPackages()
  writeLockfile({ comment: 'changed' })
  expect((await start(['hello.ts'])).stderr).toBe('')
})

test('a lockfile with a missing package causes an installation', async () => {
  await installPackages()
  rmSync(join(root, 'node_modules', '.package-lock.json'))
  writeLockfile({ comment: 'changed' })
  const { stderr, code } = await start(['hello.ts'])
  expect(stderr).toContain('Installing the locked packages')
  expect(code).toBe(7)
})

test("a failed installation is reported with npm's output", async () => {
  const dependencies = { ...MANIFEST.dependencies, unlocked: 'file:nowhere' }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...MANIFEST, dependencies }))
  const { stdout, stderr, code } = await start(['hello.ts'])
  expect(stderr).toMatch(/The packages could not be installed: [^]*npm error/)
  expect(stdout).toBe('')
  expect(code).toBe(1)
})

test('a missing file is reported by name', async () => {
  expect(await start(['absent.ts'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no absent.ts'),
  })
  expect(await start(['absent'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no tool called absent') })
  expect(await start([])).toMatchObject({ code: 1, stderr: expect.stringContaining('Usage:') })
})

describe('in production', () => {
  const env = { NODE_ENV: 'production' }

  test('a production start installs nothing and reports missing packages', async () => {
    const { stderr, code } = await start(['hello.ts'], { env })
    expect(stderr).toContain('run `npm ci --omit=dev` first')
    expect(code).toBe(1)
    expect(existsSync(join(root, 'node_modules'))).toBe(false)
  })

  test('a production start uses the installed packages', async () => {
    mkdirSync(join(root, 'node_modules'))
    expect(await start(['hello.ts', 'Ada'], { env })).toMatchObject({ code: 7, stderr: '' })
  })
})

describe('started by an older Node', () => {
  let node: string

  beforeAll(async () => {
    node = (await nodesOnPath()).find(({ major }) => major >= 20 && major < 24)?.path ?? (await installedNode())
  })

  test('the program runs on Node 24 or newer and keeps its exit code', async () => {
    const { stdout, code } = await start(['hello.ts', 'Ada'], { node })
    expect(Number(/Node (\d+)/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(24)
    expect(code).toBe(7)
  })

  test('the launcher passes signals on, including one that ends the program', async () => {
    writeFileSync(
      join(root, 'patient.ts'),
      `process.once('SIGINT', () => { console.log('once'); setTimeout(() => process.exit(5), 100) })
      setInterval(() => {}, 1000)
      console.log('waiting')`,
    )
    await installPackages()
    expect(await endAfter('SIGINT')).toEqual([5, null])
    expect(await endAfter('SIGTERM')).toEqual([null, 'SIGTERM'])
  })

  async function endAfter(signal: NodeJS.Signals): Promise<unknown[]> {
    const child = spawn(node, ['scripts/run.mjs', 'patient.ts'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill(signal)
    return ended
  }
})

/** The oldest Node that can start the program, if the machine has none between it and ours. */
async function installedNode(): Promise<string> {
  const folder = temporaryFolder()
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, 'node@20'])
  const build = `node-${process.platform}-${process.arch}`
  const places = ['node_modules/node/bin/node', `node_modules/${build}/bin/node`]
  const path = places.map((place) => join(folder, place)).find((place) => existsSync(place))
  if (path === undefined) throw new Error('The package of Node 20 holds no program')
  return path
}

async function nodesOnPath() {
  return Promise.all(
    findOnPath('node').map(async (path) => ({
      path,
      major: Number(/^v(\d+)/.exec(await run(path, ['--version']))?.[1]),
    })),
  )
}
