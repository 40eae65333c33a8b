/**
 * Writes the configuration table of README.md from `ConfigSchema`; with `--check` it only compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/config-table.ts [--check]
 */
import type { TSchema } from '@sinclair/typebox'
import { ConfigSchema } from '../src/config/schema.ts'
import { sectionScript, updateSection } from './readme-section.ts'

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

await sectionScript(import.meta.url, (check) =>
  updateSection('config', configTable(ConfigSchema.properties), { check }),
)
