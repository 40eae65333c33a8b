import { describe, expect, test } from 'vitest'
import { configTable } from '../../scripts/config-table.ts'
import { withSection } from '../../scripts/document-section.ts'
import { ConfigSchema } from '../../src/config/schema.ts'

describe('the configuration table', () => {
  const rows = configTable(ConfigSchema.properties).split('\n').slice(2)

  test('the configuration table has one row for every setting, in order', () => {
    expect(rows.map((row) => /^\| `(\w+)` \|/.exec(row)?.[1])).toEqual(Object.keys(ConfigSchema.properties))
  })

  test('the configuration table shows defaults, and marks secrets as required', () => {
    expect(rows).toContain('| `PORT` | `4000` | Port of the API |')
    expect(rows.find((row) => row.includes('`JWT_SECRET`'))).toContain('**required**')
  })

  test('the configuration table explains every setting', () => {
    expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([])
  })
})

describe('a generated section', () => {
  const section = { page: 'page.md', name: 'config', content: '| new |' }

  test('a generated section replaces the text between its markers and nothing else', () => {
    const page = 'before\n<!-- config:start -->\nold\n<!-- config:end -->\nafter\n'
    const once = withSection(page, section)
    expect(once).toBe('before\n<!-- config:start -->\n| new |\n<!-- config:end -->\nafter\n')
    expect(withSection(once, section)).toBe(once)
  })

  test('a generated section without markers is an error that names the page and the markers', () => {
    expect(() => withSection('# postonce\n', section)).toThrow(/page\.md .*config:start/)
  })
})
