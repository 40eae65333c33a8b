// `node scripts/run.mjs <file.ts | tool> [arguments]`: what every npm script starts with, right after `git clone` too.
// Makes sure of Node 24 and of the locked packages, then runs the file. Plain JavaScript without dependencies, for any Node
// from 20 up.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED_MAJOR = 24
/** What is fetched where there is no Node 24 yet. */
const FETCHED_VERSION = '24.21.0'
const OLDEST_HOST_MAJOR = 20
const NO_ANSWER_AFTER_MS = 5_000
const SAME_SIGNAL_WITHIN_MS = 1_000

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const major = majorOf(process.versions.node)

if (major < OLDEST_HOST_MAJOR) {
  fail(
    `postonce needs Node ${OLDEST_HOST_MAJOR} or newer to start from; this is ${process.versions.node}. It fetches Node ${NEEDED_MAJOR} itself.`,
  )
}
if (process.platform === 'win32') {
  fail('postonce runs on Linux and macOS. On Windows, use it inside WSL.')
}
// Not before the checks above: an older Node could fail while loading it, with an unhelpful message.
const { cacheFolder, findOnPath, isExecutable, leashed, run, say, secondsSince, step, withLock } =
  await import('./provision.mjs')

const [target, ...args] = process.argv.slice(2)
if (target === undefined) fail('Usage: node scripts/run.mjs <file.ts | tool> [arguments]')

const node = await prepare().catch((error) => fail(reasonOf(error)))
const file = locate(target)
if (process.env['NODE_ENV'] !== 'production') {
  // Every process loads a third faster, as its modules are compiled once.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'compiled')
}
if (node.path === process.execPath) {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache(process.env['NODE_COMPILE_CACHE'])
  process.argv = [process.execPath, file, ...args]
  await import(pathToFileURL(file).href)
} else {
  runUnder(node.path, file, args)
}

/**
 * The Node to run with, once everything is there. In production nothing is ever fetched.
 * @typedef {{ path: string, major: number }} Node
 * @returns {Promise<Node>}
 */
async function prepare() {
  if (process.env['NODE_ENV'] === 'production') return checkProduction()
  const startedAt = Date.now()
  const node = (await findNode()) ?? (await fetchNode())
  if (await ensurePackages(node))
    say(`  Everything is there after ${secondsSince(startedAt)}; the next start is quick.`)
  return node
}

/** @returns {Node} */
function checkProduction() {
  if (major < NEEDED_MAJOR) {
    fail(`In production postonce must be started with Node ${NEEDED_MAJOR} or newer; this is ${process.versions.node}.`)
  }
  if (!existsSync(join(root, 'node_modules'))) {
    fail('The packages are not installed, and NODE_ENV is production, where nothing is: run `npm ci --omit=dev` first.')
  }
  return { path: process.execPath, major }
}

/**
 * A file of this repository, or a tool that the packages brought.
 * @param {string} target
 */
function locate(target) {
  const file = resolve(root, target)
  if (/\.(ts|mjs|js)$/.test(target)) {
    if (!existsSync(file)) fail(`There is no ${target} in ${root}.`)
    return file
  }
  const tool = join(root, 'node_modules', '.bin', target)
  if (!existsSync(tool)) fail(`There is no tool called ${target} among the packages.`)
  return realpathSync(tool)
}

/**
 * @param {string} node
 * @param {string} file
 * @param {string[]} args
 */
function runUnder(node, file, args) {
  const child = spawn(...leashed(node, [file, ...args]), { stdio: 'inherit', env: envFor(node) })
  /** @type {Map<string, number>} */
  const passedOnAt = new Map()
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // The terminal sends Ctrl-C to the child as well, and npm sends every signal on a second time.
      if (signal === 'SIGINT' && process.stdin.isTTY) return
      if (Date.now() - (passedOnAt.get(signal) ?? 0) < SAME_SIGNAL_WITHIN_MS) return
      passedOnAt.set(signal, Date.now())
      child.kill(signal)
    })
  }
  child.once('error', (error) => fail(`${node} could not be started: ${error.message}`))
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

// --- Node 24

/** @returns {Promise<Node | null>} */
async function findNode() {
  if (major >= NEEDED_MAJOR) return { path: process.execPath, major }
  for (const path of findOnPath('node')) {
    const found = realpathSync(path) === realpathSync(process.execPath) ? major : await majorOfProgram(path)
    if (found >= NEEDED_MAJOR) return { path, major: found }
  }
  return fetchedNode()
}

/** @param {string} path */
async function majorOfProgram(path) {
  const version = await run(path, ['--version'], { timeoutMs: 10_000 }).catch(() => 'v0')
  return majorOf(version.trim().slice(1))
}

function nodeHome() {
  return join(cacheFolder(), `node-${NEEDED_MAJOR}-${process.platform}-${process.arch}`)
}

/**
 * Returns the Node that an earlier start fetched.
 * @returns {Node | null}
 */
function fetchedNode() {
  const build = `node-${process.platform}-${process.arch}`
  const places = ['bin/node', `node_modules/node/node_modules/${build}/bin/node`, `node_modules/${build}/bin/node`]
  const path = places.map((place) => join(nodeHome(), place)).find(isExecutable)
  return path === undefined ? null : { path, major: NEEDED_MAJOR }
}

/** @returns {Promise<Node>} */
function fetchNode() {
  say(`postonce runs on Node ${NEEDED_MAJOR}; this is ${process.versions.node}. Fetching it once, into ${nodeHome()}`)
  return withLock(`${nodeHome()}.lock`, `Node ${NEEDED_MAJOR}`, async () => {
    /** @type {string[]} */
    const tried = []
    const sources = /** @type {const} */ ([
      ['nodejs.org', downloadNode],
      ['the npm registry', installNode],
    ])
    for (const [source, fetchFrom] of sources) {
      const found = fetchedNode()
      if (found !== null) return found
      try {
        await step(`Node ${NEEDED_MAJOR} from ${source}`, fetchFrom)
      } catch (error) {
        rmSync(nodeHome(), { recursive: true, force: true })
        tried.push(`${source}: ${reasonOf(error)}`)
        say(`  Node ${NEEDED_MAJOR} from ${source}: not available (${reasonOf(error).split('\n')[0]})`)
      }
    }
    const node = fetchedNode()
    if (node !== null && (await majorOfProgram(node.path)) >= NEEDED_MAJOR) return node
    throw new Error(
      `Node ${NEEDED_MAJOR} is needed and could not be had. Tried:\n${tried.map((line) => `  - ${line}`).join('\n')}\n` +
        `Install Node ${NEEDED_MAJOR} or newer so that it is on PATH, then try again.`,
    )
  })
}

async function downloadNode() {
  const { mkdir, rename, writeFile } = await import('node:fs/promises')
  const name = `node-v${FETCHED_VERSION}-${process.platform}-${process.arch}`
  const folder = `https://nodejs.org/dist/v${FETCHED_VERSION}`
  const sums = await (await answered(`${folder}/SHASUMS256.txt`)).text()
  const archive = Buffer.from(await (await answered(`${folder}/${name}.tar.gz`)).arrayBuffer())
  if (!sums.includes(`${createHash('sha256').update(archive).digest('hex')}  ${name}.tar.gz`)) {
    throw new Error('the download does not match its published checksum')
  }
  const aside = `${nodeHome()}.partial`
  rmSync(aside, { recursive: true, force: true })
  await mkdir(aside, { recursive: true })
  await writeFile(join(aside, 'node.tar.gz'), archive)
  await run('tar', ['-xf', 'node.tar.gz'], { cwd: aside })
  rmSync(nodeHome(), { recursive: true, force: true })
  await rename(join(aside, name), nodeHome())
  rmSync(aside, { recursive: true, force: true })
}

/**
 * Fails within seconds where there is no network; what follows the first answer may take its time.
 * @param {string} url
 */
async function answered(url) {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error('no answer')), NO_ANSWER_AFTER_MS)
  const response = await fetch(url, { signal: silence.signal }).finally(() => clearTimeout(timer))
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response
}

async function installNode() {
  const { mkdir, writeFile } = await import('node:fs/promises')
  await mkdir(nodeHome(), { recursive: true })
  // The package fetches the build for this machine in an install script, which newer npm versions want to see named.
  const manifest = { private: true, allowScripts: { node: true } }
  await writeFile(join(nodeHome(), 'package.json'), JSON.stringify(manifest))
  const [command, first] = npmUnder(process.execPath)
  const options = ['--no-audit', '--no-fund', '--loglevel', 'error']
  await run(command, [...first, 'install', '--prefix', nodeHome(), ...options, `node@${NEEDED_MAJOR}`], {
    cwd: nodeHome(),
  })
  if (fetchedNode() === null)
    throw new Error(`the package node@${NEEDED_MAJOR} brought no program for ${process.platform} ${process.arch}`)
}

// --- packages

/**
 * Returns true when packages were installed. The stamp contains Node and lockfile of the last installation: what is compiled
 * for another Node does not load.
 * @param {Node} node
 */
async function ensurePackages(node) {
  const stampFile = join(root, 'node_modules', '.postonce.json')
  const wanted = { node: node.major, machine: `${process.platform}-${process.arch}`, lockfile: lockfileHash() }
  if (packagesFit(stampFile, wanted)) return false
  return withLock(join(root, '.cache', 'install.lock'), 'Packages', async () => {
    if (packagesFit(stampFile, wanted)) return false
    const [command, first] = npmUnder(node.path)
    const options = ['--include=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel', 'error']
    try {
      await step('Installing the locked packages (a minute or two the first time)', () =>
        run(command, [...first, 'ci', ...options], { cwd: root, env: envFor(node.path) }),
      )
    } catch (error) {
      throw new Error(`The packages could not be installed: ${reasonOf(error)}`)
    }
    writeFileSync(stampFile, JSON.stringify(wanted))
    return true
  })
}

/**
 * @param {string} stampFile
 * @param {{ node: number, machine: string, lockfile: string }} wanted
 */
function packagesFit(stampFile, wanted) {
  const stamp = readJson(stampFile)
  if (stamp?.node !== wanted.node || stamp.machine !== wanted.machine) return false
  if (stamp.lockfile === wanted.lockfile) return true
  // npm changed the lockfile and the folder together.
  if (!folderMatchesLockfile()) return false
  writeFileSync(stampFile, JSON.stringify(wanted))
  return true
}

function lockfileHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** npm keeps in the folder what it put there; packages for other machines are only in the lockfile. */
function folderMatchesLockfile() {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages ?? {}
  const present = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages ?? {}
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '' || (optional && !present[path])) return true
    return present[path] !== undefined && present[path].version === version
  })
}

/**
 * npm's own command, run by the given Node. npm names itself to the scripts it runs; a script started by hand asks PATH.
 * @param {string} node
 * @returns {[string, string[]]}
 */
function npmUnder(node) {
  const own = process.env['npm_execpath']
  if (own !== undefined && basename(own) === 'npm-cli.js' && existsSync(own)) return [node, [own]]
  const [npm] = findOnPath('npm')
  if (npm === undefined) throw new Error('npm is needed to install packages, and it is not on PATH.')
  return [node, [realpathSync(npm)]]
}

/**
 * Programs started from there find this Node first, and what is compiled is compiled for it.
 * @param {string} node
 */
function envFor(node) {
  const bin = dirname(node)
  return {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    ...(existsSync(join(bin, '..', 'include', 'node')) ? { npm_config_nodedir: dirname(bin) } : {}),
  }
}

// --- small things

/** @param {string} version */
function majorOf(version) {
  return Number(version.split('.')[0])
}

/** @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}
