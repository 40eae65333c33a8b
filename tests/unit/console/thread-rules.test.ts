import { expect, it } from 'vitest'
import { emptyDraft, type Content } from '../../../packages/console/src/pages/compose/draft.ts'
import { isUnsupported, toShownContent } from '../../../packages/console/src/pages/compose/thread-rules.ts'
import { withoutEmptyParts } from '../../../src/domain/posts/content.ts'
import { isLeftOut, toParts } from '../../../src/domain/posts/parts.ts'
import { UNSUPPORTED_POLICIES } from '../../../src/domain/posts/post.ts'
import { POSTING_RULES } from '../../../src/domain/posts/posting-rules.ts'
import { PLATFORMS } from '../../../src/domain/shared/platforms.ts'

const item = (name: string) => ({
  storageKey: name,
  storageUrl: `https://media.example/${name}`,
  mimeType: 'image/png',
})

const CONTENT: Content = {
  ...emptyDraft([]),
  text: 'One ',
  media: [item('one.png')],
  segments: [
    { id: 'a', text: 'Two', media: [item('two.png')] },
    { id: 'b', text: ' ', media: [] },
  ],
  firstComment: 'Three',
}

const CASES = PLATFORMS.flatMap((platform) =>
  UNSUPPORTED_POLICIES.flatMap((onUnsupported) =>
    [CONTENT, { ...CONTENT, segments: [] }, { ...CONTENT, firstComment: '' }].map((content) => ({
      platform,
      onUnsupported,
      content: { ...content, onUnsupported },
    })),
  ),
)

it.each(CASES)('the preview of $platform with $onUnsupported shows the parts that the service publishes', (given) => {
  const { platform, content, onUnsupported } = given
  const { thread } = POSTING_RULES[platform]
  const shown = toShownContent(content, thread)
  const { text, media, segments, firstComment } = content
  const stored = withoutEmptyParts({
    ...{ text, mediaItems: media, firstComment, onUnsupported },
    segments: segments.map((segment) => ({ text: segment.text, mediaItems: segment.media })),
  })
  expect(shown.isLeftOut).toBe(isLeftOut(platform, stored))
  // A refused or left out post has no parts.
  if (isUnsupported(content, thread) && onUnsupported !== 'join') return
  const comment = shown.comment === null ? [] : [{ text: shown.comment, mediaItems: [] }]
  const posts = shown.posts.map((post) => ({ text: post.text, mediaItems: post.media }))
  expect([...posts, ...comment]).toEqual(toParts(platform, stored).map((part) => part.content))
})
