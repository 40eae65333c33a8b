import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, withLock } from '../../scripts/provision.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NOT_INHERITED = /^(npm_(?!config)|NODE_ENV$|NODE_OPTIONS$|VITEST|INIT_CWD$)/i
const SCOPE = '@postonce/'

/**
 * Packs packages of this repository as npm publishes them, and installs them with their dependencies into an empty project, without
 * network access.
 * @param names names of the folders in `packages`; the packages that they depend on are included
 * @param project the folder, which is created
 */
export async function installPacked(names: string[], project: string): Promise<void> {
  const archives = join(project, 'archives')
  mkdirSync(archives, { recursive: true })
  const folders = listFolders(names.map((name) => join(ROOT, 'packages', name)))
  const isOwn = (folder: string) => folder.startsWith(join(ROOT, 'packages')) && !folder.includes('node_modules')
  const own = folders.filter(isOwn)
  const others = folders.filter((folder) => !isOwn(folder))
  const options = ['--pack-destination', archives, '--json', '--loglevel', 'error']
  // Two builds would replace the files that the other one packs.
  const packed = await withLock(join(ROOT, '.cache', 'pack.lock'), 'Packages', () =>
    npm(['pack', ...own, ...options], ROOT),
  )
  const taken = others.length === 0 ? '[]' : await npm(['pack', ...others, ...options, '--ignore-scripts'], ROOT)
  const files = [packed, taken].flatMap(readFilenames).map((filename) => join(archives, filename))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await npm(
    ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error', ...files],
    project,
  )
}

/** Returns the folders of packages and of everything that they depend on. */
function listFolders(roots: string[]): string[] {
  const found = new Set<string>()
  const visit = (folder: string): void => {
    if (found.has(folder)) return
    found.add(folder)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const name of Object.keys(manifest.dependencies ?? {})) visit(findPackage(name, folder))
  }
  roots.forEach(visit)
  return [...found]
}

function findPackage(name: string, from: string): string {
  if (name.startsWith(SCOPE)) return join(ROOT, 'packages', name.slice(SCOPE.length))
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return realpathSync(found)
    if (folder === dirname(folder)) throw new Error(`${name} is not installed`)
  }
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
