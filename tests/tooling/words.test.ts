import { expect, test } from 'vitest'
import { findWords } from '../../scripts/words.ts'

const wordsIn = (source: string, path = 'file.ts') =>
  findWords(source, path).map(({ words, line }) => `${line} ${words}`)

test('words of the list are found in comments, test titles and messages', () => {
  const source = `// Nobody reads this.\nit('a post goes out on time', () => {})\nconst message = \`It was \${count} times told\`\n`
  expect(wordsIn(source)).toEqual(['1 Nobody', '2 goes out', '3 told'])
})

test('words of the list are found in the texts of pages', () => {
  const source = '<Page title="Nobody is here">\n  <Text kept>It was kept for {told}</Text>\n</Page>\n'
  expect(wordsIn(source, 'page.tsx')).toEqual(['1 Nobody', '2 kept'])
})

test('quoted code, short texts and regular expressions are not checked', () => {
  expect(wordsIn("const isFound = /was told here/.test('told') // See `atOnce` and `told`.\n")).toEqual([])
  expect(wordsIn('Use `told` here.\n```\nkept\n```\n', 'page.md')).toEqual([])
})

test('words of the list are found in the names of src', () => {
  const source = `const standing = lookUp(entry.untold)\nconst lastSeenAt = isDoneAtOnce\n`
  expect(wordsIn(source, 'src/domain/file.ts')).toEqual(['1 standing', '1 untold', '2 At Once'])
  expect(wordsIn(source, 'tests/file.ts')).toEqual([])
})

test('ordinary English passes', () => {
  expect(wordsIn('// Looks up one of the posts. It looks like a link, for good reason.\n')).toEqual([])
})

test('a comment with a reason permits the words of its line and the next one', () => {
  expect(wordsIn('// words-ok: a quotation\n// told\n// told\n')).toEqual(['3 told'])
  expect(wordsIn('// words-ok:\n// told\n')).toEqual(['2 told'])
})
