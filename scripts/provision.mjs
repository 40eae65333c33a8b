// Helpers of `run.mjs` and the sandbox for the download cache, locks and child processes. They exist for machines that lack Node 24 or the
// servers and can run no containers. Plain JavaScript for Node 20 without dependencies, because it runs before anything is installed.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const STILL_WAITING_EVERY_MS = 15_000
const LOCK_POLL_MS = 250
const LOCK_TOUCHED_EVERY_MS = 5_000
/** Another process may get the id of a dead owner, but it does not touch the lock. */
const LOCK_STALE_AFTER_MS = 60_000
const TAIL_LINES = 12

/** The folder for everything that this project downloads, shared by all clones, by name and version. */
export function cacheFolder() {
  const { POSTONCE_CACHE, XDG_CACHE_HOME } = process.env
  return POSTONCE_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'postonce')
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    fs.accessSync(path, fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the executables of this name, in the order of PATH.
 * @param {string} name
 */
export function findOnPath(name) {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .filter(isExecutable)
}

/**
 * Prints progress to stderr, because stdout belongs to the program that is started.
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`${line}\n`)
}

/** @param {number} startedAt */
export function secondsSince(startedAt) {
  const seconds = (Date.now() - startedAt) / 1000
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/**
 * Runs work that a person may have to wait for. Prints its start, a reminder every 15 s, and its duration.
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(label, work) {
  const startedAt = Date.now()
  say(`  ${label} ...`)
  const reminder = setInterval(
    () => say(`  ${label}: still running after ${secondsSince(startedAt)}`),
    STILL_WAITING_EVERY_MS,
  )
  try {
    const result = await work()
    say(`  ${label}: done in ${secondsSince(startedAt)}`)
    return result
  } finally {
    clearInterval(reminder)
  }
}

/**
 * Runs a command to its end and returns what it printed. Fails with the first and last lines of its output.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 * @returns {Promise<string>}
 */
export function run(command, args, { cwd, env, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(...leashed(command, args), {
      cwd: cwd ?? process.cwd(),
      env: env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs ?? 0,
    })
    let output = ''
    const collect = (/** @type {Buffer} */ chunk) => (output += chunk.toString())
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => reject(new Error(`${command} could not be started (${error.message})`)))
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output)
      const how = signal === null ? `ended with code ${code}` : `was stopped by ${signal}`
      reject(
        new Error(`${command} ${args[0] ?? ''} ${how}${output.trim() === '' ? '' : `:\n${indent(excerpt(output))}`}`),
      )
    })
  })
}

/**
 * @param {string} text
 * @param {number} [lines]
 */
export function tail(text, lines = TAIL_LINES) {
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

/**
 * Returns the first and last lines, because some programs print the error first and others last.
 * @param {string} text
 */
function excerpt(text) {
  const lines = text.trim().split('\n')
  if (lines.length <= 2 * TAIL_LINES) return lines.join('\n')
  return [...lines.slice(0, TAIL_LINES), '...', ...lines.slice(-TAIL_LINES)].join('\n')
}

/** @param {string} text */
export function indent(text) {
  return text.replace(/^/gm, '    ')
}

/**
 * Runs `work` in one process at a time; the others wait. The lock of a dead owner is removed.
 * @template T
 * @param {string} lockFile
 * @param {string} label progress text for the user
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(lockFile, label, work) {
  fs.mkdirSync(dirname(lockFile), { recursive: true })
  let isAnnounced = false
  while (!take(lockFile)) {
    const owner = readOwner(lockFile)
    if (owner !== null && (!isAlive(owner) || !isTouched(lockFile))) {
      evict(lockFile, owner)
      continue
    }
    if (!isAnnounced) say(`  ${label}: waiting for process ${owner ?? '?'}, which does this already`)
    isAnnounced = true
    await delay(LOCK_POLL_MS)
  }
  const touching = setInterval(() => fs.lutimesSync(lockFile, new Date(), new Date()), LOCK_TOUCHED_EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(touching)
    fs.rmSync(lockFile, { force: true })
  }
}

/** @param {string} lockFile */
function isTouched(lockFile) {
  const stats = fs.lstatSync(lockFile, { throwIfNoEntry: false })
  return stats === undefined || Date.now() - stats.mtimeMs < LOCK_STALE_AFTER_MS
}

/**
 * Takes the lock; returns false when another process has it. The lock is a symbolic link to the id of its owner, because the system creates
 * it in one step.
 * @param {string} lockFile
 */
export function take(lockFile) {
  try {
    fs.symlinkSync(String(process.pid), lockFile)
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  }
}

/**
 * @param {string} lockFile
 * @returns {number | null} null when the lock was released meanwhile
 */
export function readOwner(lockFile) {
  try {
    return Number(fs.readlinkSync(lockFile))
  } catch {
    return null
  }
}

/** @param {number} pid */
export function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

/**
 * Removes the lock of a dead owner. Several processes may do this concurrently, and a slow one could remove the new lock of a fast one.
 * So the file is moved aside, checked again, and restored when it has another owner.
 * @param {string} lockFile
 * @param {number} owner
 */
export function evict(lockFile, owner) {
  const aside = `${lockFile}.evicted.${process.pid}`
  try {
    fs.renameSync(lockFile, aside)
    if (readOwner(aside) !== owner) fs.symlinkSync(fs.readlinkSync(aside), lockFile)
  } catch {
    // Another process was faster.
  }
  fs.rmSync(aside, { force: true })
}

/**
 * Returns a command line whose process ends with its parent, also when the parent is killed: `npm run dev` leaves no server behind.
 * Works on Linux only; elsewhere the command is unchanged.
 * @param {string} command
 * @param {string[]} args
 * @returns {[string, string[]]}
 */
export function leashed(command, args) {
  const setpriv = process.platform === 'linux' ? findOnPath('setpriv')[0] : undefined
  return setpriv === undefined ? [command, args] : [setpriv, ['--pdeathsig', 'TERM', command, ...args]]
}
