import { expect, test } from 'vitest'
import { findWords } from '../../scripts/words.ts'

const wordsIn = (source: string, path = 'file.ts') =>
  findWords(source, path).map(({ words, line }) => `${line} ${words}`)

test('words of the list are found in comments, test titles and messages', () => {
  const source = `// Nobody reads this.\nit('a post goes out on time', () => {})\nconst message = \`It was \${count} times told\`\n`
  expect(wordsIn(source)).toEqual(['1 Nobody', '2 goes out', '3 told'])
})

test('identifiers, quoted code and short texts are not checked', () => {
  expect(wordsIn("const kept = look('told') // See `atOnce` and `told`.\n")).toEqual([])
  expect(wordsIn('Use `told` here.\n```\nkept\n```\n', 'page.md')).toEqual([])
})

test('ordinary English passes', () => {
  expect(wordsIn('// Looks up one of the posts. It looks like a link, for good reason.\n')).toEqual([])
})

test('a comment with a reason permits the words of its line and the next one', () => {
  expect(wordsIn('// words-ok: a quotation\n// told\n// told\n')).toEqual(['3 told'])
  expect(wordsIn('// words-ok:\n// told\n')).toEqual(['2 told'])
})
