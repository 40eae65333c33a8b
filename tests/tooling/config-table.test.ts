import { describe, expect, test } from 'vitest'
import { configTable } from '../../scripts/config-table.ts'
import { withSection } from '../../scripts/readme-section.ts'
import { ConfigSchema } from '../../src/config/schema.ts'

describe('the configuration table of the README', () => {
  const rows = configTable(ConfigSchema.properties).split('\n').slice(2)

  test('has one row for every setting, in order', () => {
    expect(rows.map((row) => /^\| `(\w+)` \|/.exec(row)?.[1])).toEqual(Object.keys(ConfigSchema.properties))
  })

  test('shows defaults, and says of secrets that they are required', () => {
    expect(rows).toContain('| `PORT` | `4000` | Port of the API |')
    expect(rows.find((row) => row.includes('`JWT_SECRET`'))).toContain('**required**')
  })

  test('explains every setting', () => {
    expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([])
  })

  test('the table replaces only the text between its markers', () => {
    const readme = 'before\n<!-- config:start -->\nold\n<!-- config:end -->\nafter\n'
    const once = withSection(readme, 'config', '| new |')
    expect(once).toBe('before\n<!-- config:start -->\n| new |\n<!-- config:end -->\nafter\n')
    expect(withSection(once, 'config', '| new |')).toBe(once)
  })

  test('is refused by a README without markers', () => {
    expect(() => withSection('# postonce\n', 'config', '')).toThrow(/config:start/)
  })
})
