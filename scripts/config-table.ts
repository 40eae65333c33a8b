/**
 * Writes the list of docs/reference/configuration.md from `ConfigSchema`; with `--check` it only compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/config-table.ts [--check]
 */
import { OptionalKind, type TSchema } from '@sinclair/typebox'
import { ConfigSchema } from '../src/config/schema.ts'
import { runSectionScript, updateSection } from './document-section.ts'

const PAGE = 'docs/reference/configuration.md'

/** The page says this once for all settings. */
const SHARED_REMARKS = / \(URL\)|, separated by commas$/g

/** Returns a Markdown list with one item per setting, in the schema's order. */
export function configList(properties: Record<string, TSchema>): string {
  const items = Object.entries(properties).map(
    ([name, schema]) =>
      `- \`${name}\`${formatDefault(schema)}: ${(schema.description ?? '').replaceAll(SHARED_REMARKS, '')}`,
  )
  return items.join('\n')
}

function formatDefault(schema: TSchema): string {
  const value = schema.default as string | number | boolean | undefined
  if (OptionalKind in schema) return ''
  if (schema['secret'] === true || value === undefined) return ' (**required**)'
  return value === '' ? '' : ` (\`${String(value)}\`)`
}

await runSectionScript(import.meta.url, (check) =>
  updateSection({ page: PAGE, name: 'config', content: configList(ConfigSchema.properties) }, { check }),
)
