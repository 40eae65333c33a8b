import { describe, expect, test } from 'vitest'
import { configList } from '../../scripts/config-table.ts'
import { withSection } from '../../scripts/document-section.ts'
import { ConfigSchema } from '../../src/config/schema.ts'

describe('the configuration list', () => {
  const items = configList(ConfigSchema.properties).split('\n')

  test('the configuration list has one item for every setting, in order', () => {
    expect(items.map((item) => /^- `(\w+)`/.exec(item)?.[1])).toEqual(Object.keys(ConfigSchema.properties))
  })

  test('the configuration list shows defaults, and marks secrets as required', () => {
    expect(items).toContain('- `PORT` (`4000`): Port of the API')
    expect(items.find((item) => item.includes('`JWT_SECRET`'))).toContain('(**required**)')
  })

  test('the configuration list explains every setting', () => {
    expect(items.filter((item) => /:\s*$/.test(item))).toEqual([])
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
