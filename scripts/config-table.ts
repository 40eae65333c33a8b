/**
 * Writes the configuration table of README.md from `ConfigSchema`; with `--check` it only compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/config-table.ts [--check]
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { TSchema } from '@sinclair/typebox'
import { ConfigSchema } from '../src/config.ts'

const README = fileURLToPath(new URL('../README.md', import.meta.url))
const START = '<!-- config:start -->'
const END = '<!-- config:end -->'

/** A Markdown table with one row a setting, in the schema's order. */
export function configTable(properties: Record<string, TSchema>): string {
  const rows = Object.entries(properties).map(
    ([name, schema]) => `| \`${name}\` | ${defaultOf(schema)} | ${(schema.description ?? '').replaceAll('|', '\\|')} |`,
  )
  return ['| variable | default | what it is |', '|---|---|---|', ...rows].join('\n')
}

function defaultOf(schema: TSchema): string {
  if (schema['secret'] === true) return '**required**'
  const value = schema.default as string | number | boolean | undefined
  if (value === undefined) return '**required**'
  return value === '' ? '' : `\`${String(value)}\``
}

/** The text with the table put between the two markers. @throws when a marker is missing or they stand in the wrong order */
export function withTable(text: string, table: string): string {
  const start = text.indexOf(START)
  const end = text.indexOf(END, start)
  if (start < 0 || end < 0) throw new Error(`README.md needs the two lines ${START} and ${END}`)
  return `${text.slice(0, start + START.length)}\n${table}\n${text.slice(end)}`
}

async function main() {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const current = await readFile(README, 'utf8')
  const wanted = withTable(current, configTable(ConfigSchema.properties))
  if (current === wanted) return
  if (values.check)
    throw new Error('The configuration table of README.md is old: node scripts/run.mjs scripts/config-table.ts')
  await writeFile(README, wanted)
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
}
