import { Stack, Text } from '@mantine/core'
import type { components } from '@postonce/sdk'
import { MediaGrid } from '../../shared/media-grid.tsx'

type Content = components['schemas']['PostContentOverride']

/** The texts and files of a content or a variant: the post, the further posts of its thread and the comment. */
export function PostContent({ content }: { content: Content }) {
  const { text, mediaItems = [], segments = [], firstComment = '' } = content
  return (
    <Stack>
      {text !== undefined && <Text className="user-text">{text || <em>Without text</em>}</Text>}
      <MediaGrid items={mediaItems} />
      {segments.map((segment, index) => (
        <Stack key={index} gap="xs">
          <Text size="xs" c="dimmed" fw={600}>
            Post {index + 2}
          </Text>
          <Text className="user-text">{segment.text}</Text>
          <MediaGrid items={segment.mediaItems} />
        </Stack>
      ))}
      {firstComment !== '' && (
        <Stack gap="xs">
          <Text size="xs" c="dimmed" fw={600}>
            First comment
          </Text>
          <Text className="user-text">{firstComment}</Text>
        </Stack>
      )}
    </Stack>
  )
}
