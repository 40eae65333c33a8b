import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = new URL('../', import.meta.url)

/** A generated part of a Markdown page: the lines between `<!-- name:start -->` and `<!-- name:end -->`. */
export interface Section {
  /** Path of the page from the repository root. */
  page: string
  name: string
  content: string
}

/** Returns the text with the section's content replaced. @throws when a marker is missing or the markers are in the wrong order */
export function withSection(text: string, { page, name, content }: Section): string {
  const [opening, closing] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`]
  const start = text.indexOf(opening)
  const end = text.indexOf(closing, start)
  if (start < 0 || end < 0) throw new Error(`${page} needs the two lines ${opening} and ${closing}`)
  return `${text.slice(0, start + opening.length)}\n${content}\n${text.slice(end)}`
}

/** Updates a generated section. @throws with `check`, when the section is out of date; the page is not written then */
export async function updateSection(section: Section, { check = false } = {}): Promise<void> {
  await updateFile(section.page, withSection(await readFile(new URL(section.page, ROOT), 'utf8'), section), { check })
}

/**
 * Updates a generated file.
 * @param path from the repository root
 * @throws with `check`, when the file is out of date; it is not written then
 */
export async function updateFile(path: string, wanted: string, { check = false } = {}): Promise<void> {
  const file = new URL(path, ROOT)
  if ((await readFile(file, 'utf8').catch(() => '')) === wanted) return
  if (check) throw new Error(`${path} is out of date`)
  await writeFile(file, wanted)
}

/**
 * Runs `update` when the script at `url` was started from the command line; `--check` compares without writing. `import.meta.main`
 * does not work here, because scripts/run.mjs imports the script that it starts.
 */
export async function runSectionScript(url: string, update: (check: boolean) => Promise<void>): Promise<void> {
  if (process.argv[1] !== fileURLToPath(url)) return
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  try {
    await update(values.check)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
