import { createHash } from 'node:crypto'
import { globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, withLock } from './provision.mjs'
import { ROOT } from './repository-files.ts'

export const CONSOLE = join(ROOT, 'packages/console')
export const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')

const BUILT = join(CONSOLE, 'dist')
/** In the built folder: the hash of what it was built from. */
const STAMP = '.sources'
const CACHE = join(CONSOLE, '.cache')
const SOURCES = [
  'packages/console/*.{html,json,ts}',
  'packages/console/{public,src}/**/*.*',
  'packages/sdk/package.json',
  'packages/sdk/src/**/*.ts',
  'package-lock.json',
]

/**
 * Builds the console unless its sources are those of the last build, and returns the built folder. One process builds at a time, and
 * the others wait for it.
 */
export function buildConsole(): Promise<string> {
  return withLock(join(CACHE, 'build.lock'), 'The console', async () => {
    const sources = hashSources()
    if (readStamp() === sources) return BUILT
    const unfinished = join(CACHE, 'dist')
    await run(process.execPath, [VITE, 'build', '--outDir', unfinished, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: CONSOLE,
      // Tests have another one, and with it React's code for development.
      env: { ...process.env, NODE_ENV: 'production' },
    })
    writeFileSync(join(unfinished, STAMP), sources)
    rmSync(BUILT, { recursive: true, force: true })
    renameSync(unfinished, BUILT)
    return BUILT
  })
}

function hashSources(): string {
  const hash = createHash('sha256')
  for (const file of globSync(SOURCES, { cwd: ROOT }).toSorted()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** Returns null when nothing was built, or by Vite alone. */
function readStamp(): string | null {
  try {
    return readFileSync(join(BUILT, STAMP), 'utf8')
  } catch {
    return null
  }
}

/** A chunk in Vite's manifest; `imports` has the keys of those that load with it. */
interface Chunk {
  file: string
  css?: string[]
  imports?: string[]
}

/** Returns the bytes, compressed, of the files that load before the first page: its script, that script's imports, and their styles. */
export function measureFirstPage(folder: string): number {
  const chunks = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>
  const files = new Set<string>()
  const add = ({ file, css = [], imports = [] }: Chunk) => {
    if (files.has(file)) return
    for (const name of [file, ...css]) files.add(name)
    for (const key of imports) add(chunks[key]!)
  }
  add(chunks['index.html']!)
  return [...files].reduce((bytes, file) => bytes + statSync(join(folder, `${file}.gz`)).size, 0)
}
