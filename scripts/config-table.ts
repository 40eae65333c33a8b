/**
 * Writes the table of docs/reference/configuration.md from `ConfigSchema`; with `--check` it only compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/config-table.ts [--check]
 */
import type { TSchema } from '@sinclair/typebox'
import { ConfigSchema } from '../src/config/schema.ts'
import { runSectionScript, updateSection } from './document-section.ts'

const PAGE = 'docs/reference/configuration.md'

/** Returns a Markdown table with one row per setting, in the schema's order. */
export function configTable(properties: Record<string, TSchema>): string {
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `| \`${name}\` | ${formatDefault(schema)} | ${(schema.description ?? '').replaceAll('|', '\\|')} |`,
  )
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}

function formatDefault(schema: TSchema): string {
  if (schema['secret'] === true) return '**required**'
  const value = schema.default as string | number | boolean | undefined
  if (value === undefined) return '**required**'
  return value === '' ? '' : `\`${String(value)}\``
}

await runSectionScript(import.meta.url, (check) =>
  updateSection({ page: PAGE, name: 'config', content: configTable(ConfigSchema.properties) }, { check }),
)
