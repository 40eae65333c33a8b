import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const README = fileURLToPath(new URL('../README.md', import.meta.url))

/** The text with this put between the markers of a section. @throws when a marker is missing or they stand in the wrong order */
export function withSection(text: string, name: string, content: string): string {
  const [opening, closing] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const start = text.indexOf(opening)
  const end = text.indexOf(closing, start)
  if (start < 0 || end < 0) throw new Error(`README.md needs the two lines ${opening} and ${closing}`)
  return `${text.slice(0, start + opening.length)}\n${content}\n${text.slice(end)}`
}

/** Brings a section of the README up to date. @throws with `check`, when it is not: nothing is written then */
export async function updateSection(name: string, content: string, options: { check?: boolean } = {}): Promise<void> {
  const current = await readFile(README, 'utf8')
  const wanted = withSection(current, name, content)
  if (current === wanted) return
  if (options.check) throw new Error(`The section "${name}" of README.md is old`)
  await writeFile(README, wanted)
}

/**
 * Runs a script of one section when it is what was started: it writes, and with `--check` only compares. `import.meta.main` does not tell,
 * for scripts/run.mjs imports what it starts.
 */
export async function sectionScript(url: string, update: (check: boolean) => Promise<void>): Promise<void> {
  if (process.argv[1] !== fileURLToPath(url)) return
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  try {
    await update(values.check)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
