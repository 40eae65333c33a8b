import { Anchor, Avatar, Box, Group, Image, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { Fragment } from 'react'
import { PLATFORMS, PlatformMark, type Account, type Platform } from '../../shared/platforms.tsx'
import { contentFor, type Draft, type DraftMedia } from './draft.ts'

/** How a platform shows a post in a timeline, as far as it matters for writing. */
interface Look {
  /** Characters after which a timeline cuts a text, about. */
  cutAfter?: number
  mediaFirst?: boolean
  aspect?: number
}

const LOOKS: Record<Platform, Look> = {
  bluesky: {},
  threads: { cutAfter: 320 },
  instagram: { cutAfter: 125, mediaFirst: true, aspect: 1 },
  facebook: { cutAfter: 480 },
  mastodon: {},
  tumblr: {},
}
const SHOWN_MEDIA = 4

/** What the post will look like on an account. */
export function Preview({ draft, account }: { draft: Draft; account: Account }) {
  const { platform, profile } = account
  const { text, media } = contentFor(draft, account)
  const { mediaFirst = false } = LOOKS[platform]
  const pictures = <Pictures media={media} aspect={LOOKS[platform].aspect} />
  return (
    <Paper
      withBorder
      p="md"
      className="surface"
      component="article"
      aria-label={`Preview for ${PLATFORMS[platform].name}`}
    >
      <Group gap="sm" wrap="nowrap" mb="sm">
        <Avatar name={profile.displayName || profile.handle} color="ink" size={38} alt="" />
        <Stack gap={0} miw={0} flex={1}>
          <Text size="sm" fw={600} truncate>
            {profile.displayName || profile.handle}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {profile.handle}
          </Text>
        </Stack>
        <PlatformMark platform={platform} />
      </Group>
      <Stack gap="sm">
        {mediaFirst && pictures}
        <PreviewText text={text} cutAfter={LOOKS[platform].cutAfter} />
        {!mediaFirst && pictures}
      </Stack>
    </Paper>
  )
}

const PARTS = /(https?:\/\/\S+|(?<![\w@#/])[@#][\p{L}\p{N}_][\p{L}\p{N}_.@-]*)/u

/** Marks links, tags and mentions, and shows where a timeline cuts the text. */
function PreviewText({ text, cutAfter = Infinity }: { text: string; cutAfter?: number | undefined }) {
  if (text.trim() === '') {
    return (
      <Text size="sm" c="dimmed">
        Your text
      </Text>
    )
  }
  const shown = [...text].slice(0, cutAfter).join('')
  const rest = text.slice(shown.length)
  return (
    <Text size="sm" className="user-text" component="div">
      <Marked text={shown} />
      {rest !== '' && (
        <>
          <Box component="span" c="dimmed">
            {' '}
            … more
          </Box>
          <Box component="span" opacity={0.55}>
            <Marked text={rest} />
          </Box>
        </>
      )}
    </Text>
  )
}

function Marked({ text }: { text: string }) {
  return text.split(PARTS).map((part, index) =>
    index % 2 === 1 ? (
      <Anchor key={index} component="span" size="sm" inherit>
        {part}
      </Anchor>
    ) : (
      <Fragment key={index}>{part}</Fragment>
    ),
  )
}

function Pictures({ media, aspect }: { media: DraftMedia[]; aspect: number | undefined }) {
  if (media.length === 0) return null
  const shown = media.slice(0, SHOWN_MEDIA)
  const height = shown.length === 1 ? 240 : 130
  return (
    <Box pos="relative">
      <SimpleGrid cols={shown.length === 1 ? 1 : 2} spacing={4}>
        {shown.map(({ storageKey, storageUrl, mimeType, altText = '' }) =>
          mimeType.startsWith('video/') ? (
            <video
              key={storageKey}
              src={storageUrl}
              height={height}
              width="100%"
              preload="metadata"
              aria-label={altText || 'Video'}
            />
          ) : (
            <Image
              key={storageKey}
              src={storageUrl}
              alt={altText}
              radius="md"
              fit="cover"
              {...(aspect ? { style: { aspectRatio: aspect } } : { h: height })}
            />
          ),
        )}
      </SimpleGrid>
      {media.length > SHOWN_MEDIA && (
        <Text size="xs" c="dimmed" mt={4}>
          and {media.length - SHOWN_MEDIA} more
        </Text>
      )}
    </Box>
  )
}
