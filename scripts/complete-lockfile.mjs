// Adds missing optional packages to package-lock.json. Run it after `npm install` with a registry that lacks some builds of a
// package: npm then omits the builds for other machines, and `npm ci` refuses the lockfile everywhere. Their exact versions are
// in the package that depends on them. Only the checksums stay unknown, which npm does not require.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, URL } from 'node:url'

/**
 * @typedef {{ version?: string, optional?: boolean, optionalDependencies?: Record<string, string>, [more: string]: unknown }} Locked
 * @typedef {{ packages: Record<string, Locked> }} Lockfile
 */

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']

/**
 * Returns the optional packages that the lockfile lacks, by the path of their entry.
 * @param {Lockfile} lockfile
 * @returns {Map<string, string>} path to version
 */
export function findMissingPackages(lockfile) {
  const missing = new Map()
  for (const [path, { optionalDependencies = {} }] of Object.entries(lockfile.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (!isLocked(lockfile, path, name)) missing.set(`node_modules/${name}`, version)
    }
  }
  return missing
}

/**
 * Searches for an entry like Node: next to the package, then in every folder above.
 * @param {Lockfile} lockfile
 * @param {string} path
 * @param {string} name
 */
function isLocked(lockfile, path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    if (lockfile.packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`] !== undefined) return true
    if (folder === '') return false
  }
}

/**
 * Builds the entry of a package. The package name contains the machine: `@swc/core-linux-arm64-musl`.
 * @param {string} path
 * @param {string} version
 */
function buildEntry(path, version) {
  const words = path.split(/[/-]/)
  const os = SYSTEMS.filter((system) => words.includes(system))
  const cpu = PROCESSORS.filter((processor) => words.includes(processor))
  if (!/^\d+\.\d+\.\d+/.test(version) || os.length !== 1 || cpu.length !== 1) {
    throw new Error(`${path}@${version} is missing from the lockfile, and its name does not contain its machine`)
  }
  const libc = words.includes('musl') || words.includes('musleabihf') ? 'musl' : 'glibc'
  return { version, cpu, optional: true, os, ...(os[0] === 'linux' ? { libc: [libc] } : {}) }
}

/** @param {string} file */
function complete(file) {
  const lockfile = /** @type {Lockfile} */ (JSON.parse(readFileSync(file, 'utf8')))
  const missing = findMissingPackages(lockfile)
  for (const [path, version] of missing) lockfile.packages[path] = buildEntry(path, version)
  const { '': root, ...others } = lockfile.packages
  const sorted = Object.entries(others).sort(([a], [b]) => a.localeCompare(b, 'en'))
  lockfile.packages = Object.fromEntries([['', root ?? {}], ...sorted])
  if (missing.size > 0) writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`)
  console.log(
    missing.size === 0 ? 'The lockfile is complete.' : `Added to the lockfile: ${[...missing.keys()].join(', ')}`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  complete(fileURLToPath(new URL('../package-lock.json', import.meta.url)))
