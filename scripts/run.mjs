// `node scripts/run.mjs <file.ts | tool> [arguments]`: every npm script starts with this, also right after `git clone`. It installs Node 24
// and the locked packages if they are missing, then runs the file. It stays for machines without Node 24 and without containers. Plain
// JavaScript without dependencies, for Node 20 or newer.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED_MAJOR = 24
/** The version that is downloaded on a machine without Node 24. */
const FETCHED_VERSION = '24.21.0'
const OLDEST_HOST_MAJOR = 20
const NO_ANSWER_AFTER_MS = 5_000
const SAME_SIGNAL_WITHIN_MS = 1_000

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const major = parseMajor(process.versions.node)

if (major < OLDEST_HOST_MAJOR) {
  fail(
    `postonce needs Node ${OLDEST_HOST_MAJOR} or newer to start; this is ${process.versions.node}. Install a newer Node first. postonce then downloads Node ${NEEDED_MAJOR}.`,
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

const node = await prepare().catch((error) => fail(toReason(error)))
const file = locate(target)
const isProduction = process.env['NODE_ENV'] === 'production'
if (!isProduction) {
  // Every process loads a third faster, as its modules are compiled once.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'compiled')
}
if (node.path === process.execPath) {
  const { enableCompileCache } = await import('node:module')
  // Without a folder it would write to the system's folder for temporary files.
  if (!isProduction) enableCompileCache(process.env['NODE_COMPILE_CACHE'])
  process.argv = [process.execPath, file, ...args]
  await import(pathToFileURL(file).href)
} else {
  runUnder(node.path, file, args)
}

/**
 * Installs what is missing, and returns the Node to run with. In production it installs nothing.
 * @typedef {{ path: string, major: number }} Node
 * @returns {Promise<Node>}
 */
async function prepare() {
  if (process.env['NODE_ENV'] === 'production') return checkProduction()
  const startedAt = Date.now()
  const node = (await findNode()) ?? (await fetchNode())
  if (await ensurePackages(node))
    say(`  Everything is installed after ${secondsSince(startedAt)}; the next start is quick.`)
  return node
}

/** @returns {Node} */
function checkProduction() {
  if (major < NEEDED_MAJOR) {
    fail(`In production postonce must be started with Node ${NEEDED_MAJOR} or newer; this is ${process.versions.node}.`)
  }
  if (!existsSync(join(root, 'node_modules'))) {
    fail(
      'The packages are not installed. With NODE_ENV=production postonce does not install them: run `npm ci --omit=dev` first.',
    )
  }
  return { path: process.execPath, major }
}

/**
 * Returns the path of a file of this repository, or of a tool of the installed packages.
 * @param {string} target
 */
function locate(target) {
  const file = resolve(root, target)
  if (/\.(ts|mjs|js)$/.test(target)) {
    if (!existsSync(file)) fail(`There is no ${target} in ${root}.`)
    return file
  }
  const tool = join(root, 'node_modules', '.bin', target)
  if (!existsSync(tool)) fail(`The installed packages have no tool called ${target}.`)
  return realpathSync(tool)
}

/**
 * @param {string} node
 * @param {string} file
 * @param {string[]} args
 */
function runUnder(node, file, args) {
  const child = spawn(...leashed(node, [file, ...args]), { stdio: 'inherit', env: createEnv(node) })
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
    const found = realpathSync(path) === realpathSync(process.execPath) ? major : await readMajor(path)
    if (found >= NEEDED_MAJOR) return { path, major: found }
  }
  return findFetchedNode()
}

/** @param {string} path */
async function readMajor(path) {
  const version = await run(path, ['--version'], { timeoutMs: 10_000 }).catch(() => 'v0')
  return parseMajor(version.trim().slice(1))
}

function nodeHome() {
  return join(cacheFolder(), `node-${NEEDED_MAJOR}-${process.platform}-${process.arch}`)
}

/**
 * Returns the Node that an earlier start fetched.
 * @returns {Node | null}
 */
function findFetchedNode() {
  const build = `node-${process.platform}-${process.arch}`
  const places = ['bin/node', `node_modules/node/node_modules/${build}/bin/node`, `node_modules/${build}/bin/node`]
  const path = places.map((place) => join(nodeHome(), place)).find(isExecutable)
  return path === undefined ? null : { path, major: NEEDED_MAJOR }
}

/** @returns {Promise<Node>} */
function fetchNode() {
  say(`postonce runs on Node ${NEEDED_MAJOR}; this is ${process.versions.node}. Fetching it once, into ${nodeHome()}`)
  return withLock(`${nodeHome()}.lock`, `Node ${NEEDED_MAJOR}`, async () => {
    const fetched = findFetchedNode()
    if (fetched !== null) return fetched
    const folder = `${nodeHome()}.partial`
    let tried = ''
    for (const [source, fetchInto] of /** @type {const} */ ([
      ['nodejs.org', downloadNode],
      ['the npm registry', installNode],
    ])) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
      try {
        await step(`Node ${NEEDED_MAJOR} from ${source}`, () => fetchInto(folder))
        rmSync(nodeHome(), { recursive: true, force: true })
        renameSync(folder, nodeHome())
        const node = findFetchedNode()
        if (node !== null && (await readMajor(node.path)) >= NEEDED_MAJOR) return node
        throw new Error(`it has no program for ${process.platform} ${process.arch}`)
      } catch (error) {
        tried += `  - ${source}: ${toReason(error)}\n`
        say(`  Node ${NEEDED_MAJOR} from ${source}: not available (${toReason(error).split('\n')[0]})`)
      }
    }
    throw new Error(
      `Node ${NEEDED_MAJOR} is needed and could not be installed. Tried:\n${tried}` +
        `Install Node ${NEEDED_MAJOR} or newer so that it is on PATH, then try again.`,
    )
  })
}

/** @param {string} folder */
async function downloadNode(folder) {
  const name = `node-v${FETCHED_VERSION}-${process.platform}-${process.arch}.tar.gz`
  const site = `https://nodejs.org/dist/v${FETCHED_VERSION}`
  const sums = await (await fetchOk(`${site}/SHASUMS256.txt`)).text()
  const archive = Buffer.from(await (await fetchOk(`${site}/${name}`)).arrayBuffer())
  if (!sums.includes(`${createHash('sha256').update(archive).digest('hex')}  ${name}`)) {
    throw new Error('the download does not match its published checksum')
  }
  writeFileSync(join(folder, name), archive)
  await run('tar', ['-xf', name, '--strip-components=1'], { cwd: folder })
  rmSync(join(folder, name))
}

/**
 * Fetches a URL, and fails within seconds without network. The deadline does not include the body.
 * @param {string} url
 */
async function fetchOk(url) {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error('no answer')), NO_ANSWER_AFTER_MS)
  const response = await fetch(url, { signal: silence.signal }).finally(() => clearTimeout(timer))
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response
}

/** @param {string} folder */
async function installNode(folder) {
  // The package fetches the build for this machine in an install script, which newer npm versions run only for listed packages.
  const manifest = { private: true, allowScripts: { node: true } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const [command, first] = toNpmCommand(process.execPath)
  const options = ['--no-audit', '--no-fund', '--loglevel', 'error']
  await run(command, [...first, 'install', '--prefix', folder, ...options, `node@${NEEDED_MAJOR}`], { cwd: folder })
}

// --- packages

/**
 * Installs the locked packages unless they are installed, and returns true when it did. The stamp names the Node of the last installation,
 * because native modules do not load in another Node.
 * @param {Node} node
 */
async function ensurePackages(node) {
  const stampFile = join(root, 'node_modules', '.postonce.json')
  const wanted = { node: node.major, machine: `${process.platform}-${process.arch}` }
  const fits = () => JSON.stringify(readJson(stampFile)) === JSON.stringify(wanted) && folderMatchesLockfile()
  if (fits()) return false
  return withLock(join(root, '.cache', 'install.lock'), 'Packages', async () => {
    if (fits()) return false
    const [command, first] = toNpmCommand(node.path)
    const options = ['--include=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel', 'error']
    try {
      await step('Installing the locked packages (a minute or two the first time)', () =>
        run(command, [...first, 'ci', ...options], { cwd: root, env: createEnv(node.path) }),
      )
    } catch (error) {
      throw new Error(`The packages could not be installed: ${toReason(error)}`)
    }
    writeFileSync(stampFile, JSON.stringify(wanted))
    return true
  })
}

/** Compares with the lockfile that npm writes into the folder. It lacks the packages for other machines. */
function folderMatchesLockfile() {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages ?? {}
  const present = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages ?? {}
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '' || (optional && !present[path])) return true
    return present[path] !== undefined && present[path].version === version
  })
}

/**
 * Returns npm's command, run by the given Node. npm passes its path to its scripts; a script started by hand searches PATH.
 * @param {string} node
 * @returns {[string, string[]]}
 */
function toNpmCommand(node) {
  const own = process.env['npm_execpath']
  if (own !== undefined && basename(own) === 'npm-cli.js' && existsSync(own)) return [node, [own]]
  const [npm] = findOnPath('npm')
  if (npm === undefined)
    throw new Error('npm is needed to install packages, and it is not on PATH. Install npm, then try again.')
  return [node, [realpathSync(npm)]]
}

/**
 * Returns an environment in which programs find this Node first, and native modules are compiled for it.
 * @param {string} node
 */
function createEnv(node) {
  const bin = dirname(node)
  return {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    ...(existsSync(join(bin, '..', 'include', 'node')) ? { npm_config_nodedir: dirname(bin) } : {}),
  }
}

// --- helpers

/** @param {string} version */
function parseMajor(version) {
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
function toReason(error) {
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
