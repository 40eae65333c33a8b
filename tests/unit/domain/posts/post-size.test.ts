import { expect, it } from 'vitest'
import {
  findSizeProblems,
  MAX_POST_ADDRESSES,
  MAX_POST_FILES,
  MAX_POST_TEXT_BYTES,
} from '../../../../src/domain/posts/post-size.ts'

const media = (altText: string) => ({ storageKey: 'k', storageUrl: 'u', mimeType: 'image/png', altText })

it('the texts and descriptions of all platforms count together, in bytes', () => {
  const build = (text: string) => ({
    content: { text, mediaItems: [media('abc')] },
    platformSpecificContent: { tumblr: { text: 'é€👍' }, threads: { mediaItems: [media('z')] } },
  })
  // 2 + 3 + 4 bytes of the override, and 4 of the descriptions.
  const room = MAX_POST_TEXT_BYTES - 9 - 4
  expect(findSizeProblems(build('x'.repeat(room)))).toEqual([])
  expect(findSizeProblems(build('x'.repeat(room + 1)))).toEqual([
    {
      path: 'content',
      code: 'POST_TOO_LARGE',
      message:
        'The texts and descriptions of this post have 400001 bytes in total, and at most 400000 are allowed. Shorten them.',
    },
  ])
})

it('a change without any content has no size problem', () => {
  expect(findSizeProblems({})).toEqual([])
})

it('the files of all contents, their segments and links count together', () => {
  const build = (files: number) => ({
    content: { mediaItems: [media('')], link: { url: 'https://a.example', image: media('') } },
    accountSpecificContent: {
      one: { segments: [{ text: '', mediaItems: Array.from({ length: files - 2 }, () => media('')) }] },
    },
  })
  expect(findSizeProblems(build(MAX_POST_FILES))).toEqual([])
  expect(findSizeProblems(build(MAX_POST_FILES + 1))).toMatchObject([
    { code: 'POST_TOO_LARGE', message: expect.stringContaining('301 files') },
  ])
})

it('the different addresses of files count, and stored files have none', () => {
  const at = (address: string) => ({ ...media(''), storageKey: address, storageUrl: address })
  const build = (count: number) => ({
    content: { mediaItems: Array.from({ length: count }, (_, index) => at(`https://a.example/${index}`)) },
    platformSpecificContent: { tumblr: { mediaItems: [at('https://a.example/0'), media('')] } },
  })
  expect(findSizeProblems(build(MAX_POST_ADDRESSES))).toEqual([])
  expect(findSizeProblems(build(MAX_POST_ADDRESSES + 1))).toMatchObject([
    { code: 'POST_TOO_LARGE', message: expect.stringContaining('21 files by their addresses') },
  ])
})
