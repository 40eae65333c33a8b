import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, withLock } from '../../scripts/provision.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKED = join(ROOT, '.cache', 'packed')
const NOT_INHERITED = /^(npm_(?!config)|NODE_ENV$|NODE_OPTIONS$|VITEST|INIT_CWD$)/i
const SCOPE = '@postonce/'
/** Everything that an installed package depends on. */
const SOURCES = [
  'packages/*/{package.json,tsconfig.build.json}',
  'packages/*/{bin,src}/**',
  'package-lock.json',
  'tsconfig.json',
  'tests/support/packed.ts',
]

interface Manifest {
  version: string
  dependencies?: Record<string, string>
  bin?: string | Record<string, string>
}

/**
 * Packs a package of this repository as npm publishes it, and installs it with its dependencies into an empty project, without network
 * access. All test files and later runs share the project, and must not write to it. It is installed again when its sources change.
 * @param name the name of the folder in `packages`; packages of this repository that it depends on are packed, too
 * @returns the folder of the project
 */
export async function installPacked(name: 'cli' | 'mcp'): Promise<string> {
  const project = join(PACKED, `${name}-${fingerprintSources()}`)
  // Two builds would replace the files that the other one packs.
  await withLock(join(ROOT, '.cache', 'pack.lock'), 'Packages', async () => {
    if (existsSync(project)) return
    removeProjects(name)
    const unfinished = `${project}.unfinished`
    await install(name, unfinished)
    renameSync(unfinished, project)
  })
  return project
}

function fingerprintSources(): string {
  const hash = createHash('sha256').update(process.version)
  const files = globSync(SOURCES, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()) {
    hash.update(`\n${relative(ROOT, path)}\n`).update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 16)
}

function removeProjects(name: string): void {
  mkdirSync(PACKED, { recursive: true })
  const outdated = readdirSync(PACKED).filter((folder) => folder.startsWith(`${name}-`))
  for (const folder of outdated) rmSync(join(PACKED, folder), { recursive: true, force: true })
}

async function install(name: string, project: string): Promise<void> {
  const archives = join(project, 'archives')
  mkdirSync(archives, { recursive: true })
  const folders = listFolders(join(ROOT, 'packages', name))
  const isOwn = (folder: string) => dirname(folder) === join(ROOT, 'packages')
  const files = new Map<string, string>()
  for (const [some, options] of [
    [folders.filter(isOwn), []],
    [folders.filter((folder) => !isOwn(folder)), ['--ignore-scripts']],
  ] as const) {
    const output = await npm(
      ['pack', ...some, '--pack-destination', archives, '--json', '--loglevel', 'error', ...options],
      ROOT,
    )
    // npm reports the archives in the order of the folders.
    for (const [index, file] of readFilenames(output).entries()) files.set(some[index]!, `file:archives/${file}`)
  }

  const manifest = { private: true, type: 'module', dependencies: { [SCOPE + name]: files.get(folders[0]!)! } }
  const packages = Object.fromEntries(
    folders.map((folder) => {
      const { version, dependencies, bin } = readManifest(folder)
      return [placeOf(folder), { version, resolved: files.get(folder), dependencies, bin }]
    }),
  )
  const lockfile = { lockfileVersion: 3, requires: true, packages: { '': manifest, ...packages } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lockfile))
  // A lockfile names every archive, so npm needs neither a registry nor its cache.
  await npm(['ci', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'], project)
}

/** Returns the folder of a package and the folders of everything that it depends on. */
function listFolders(root: string): string[] {
  const found = new Set<string>()
  const visit = (folder: string): void => {
    if (found.has(folder)) return
    found.add(folder)
    for (const name of Object.keys(readManifest(folder).dependencies ?? {})) visit(findPackage(name, folder))
  }
  visit(root)
  return [...found]
}

function findPackage(name: string, from: string): string {
  if (name.startsWith(SCOPE)) return join(ROOT, 'packages', name.slice(SCOPE.length))
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
    if (folder === dirname(folder)) throw new Error(`${name} is not installed`)
  }
}

/** Returns the place of a package in the project: as in this repository, where packages of one name can have several versions. */
function placeOf(folder: string): string {
  return relative(ROOT, folder).replace(/^packages\//, `node_modules/${SCOPE}`)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** npm 11 prints a list of packages, and npm 12 an object by name. The scripts of a package print before it. */
function readFilenames(output: string): string[] {
  const json = JSON.parse(output.slice(output.search(/^[[{]/m))) as Record<string, { filename: string }>
  return Object.values(json).map(({ filename }) => filename)
}

function npm(args: string[], cwd: string): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_INHERITED.test(name)))
  return run('npm', args, { cwd, env: { ...env, PATH: `${dirname(process.execPath)}:${env['PATH']}` } })
}
