import { expect, test } from 'vitest'
import { findBrokenLinks } from '../../scripts/links.ts'

function brokenLinks(files: Record<string, string>): string[] {
  return findBrokenLinks({
    files: Object.keys(files),
    read: (path) => files[path]!,
    exists: (path) =>
      Object.keys(files).some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`)),
  })
}

test('links to existing files, folders and headings are accepted', () => {
  const files = {
    'README.md': '[guide](docs/guide.md#first-post), [docs](docs/), [below](#Below), https://example.org/x\n# Below\n',
    'docs/guide.md': '# Guide\n## First post\n[back](../README.md) `docs/guide.md` ADR "Images in memory"\n',
    'docs/adr/0007-images.md': '# 7. Images in memory\n',
    'src/post.ts': '// See docs/guide.md#first-post and ADR "Images in\n// memory".\n',
  }
  expect(brokenLinks({ ...files, 'README.md': files['README.md'].replace('#Below', '#below') })).toEqual([])
})

test('a broken link of a page is reported with its file', () => {
  expect(brokenLinks({ 'docs/guide.md': '[one](missing.md) [two](#nowhere) `src/gone.ts`\n' })).toEqual([
    'docs/guide.md: docs/missing.md does not exist',
    'docs/guide.md: docs/guide.md#nowhere has no such heading',
    'docs/guide.md: src/gone.ts does not exist',
  ])
})

test('links inside of code blocks are not checked', () => {
  expect(brokenLinks({ 'README.md': '```md\n[one](missing.md)\n```\n`[two](missing.md)`\n' })).toEqual([])
})

test('a comment that refers to a missing page, heading or ADR, or to an ADR by number, is reported', () => {
  const files = {
    'docs/guide.md': '# Guide\n',
    'src/post.ts': '/** docs/guide.md#other */\n// docs/old.md, ADR 99, ADR "Gone", https://example.org/docs/x.md\n',
  }
  expect(brokenLinks(files)).toEqual([
    'src/post.ts: docs/guide.md#other has no such heading',
    'src/post.ts: docs/old.md does not exist',
    'src/post.ts: ADR 99 has to be cited by its title',
    'src/post.ts: ADR "Gone" does not exist',
  ])
})
