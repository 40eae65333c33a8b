import { expect, it } from 'vitest'
import { findSizeProblems, MAX_POST_TEXT_BYTES } from '../../../../src/domain/posts/post-size.ts'

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
