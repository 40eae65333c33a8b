import { Anchor, Avatar, Box, Divider, Group, Image, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { CircleAlert, TriangleAlert } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { PLATFORMS, PlatformMark, type Account, type Platform } from '../../shared/platforms.tsx'
import { contentFor, type Draft, type DraftMedia, type Options } from './draft.ts'
import { ContentWarning, HiddenMedia, PollView, Quote, TagsAndSource } from './preview-options.tsx'
import { describeProblem, type Report } from './report.ts'
import { toShownContent, type ShownPost, type ThreadRule } from './thread-rules.ts'

/** How a platform shows a post in a timeline, as far as it matters for writing. */
interface Look {
  /** `beside` the picture of the account, `below` it, or as a `caption` below the pictures, after the name. */
  text: 'beside' | 'below' | 'caption'
  /** Characters after which a timeline cuts a text, about. */
  cutAfter?: number
  aspect?: number
  /** How many files it shows side by side; the others follow after a swipe or a click. */
  shownMedia?: number
  /** Shows the first link as a card when the post has no files. */
  hasCard?: boolean
}

const LOOKS: Record<Platform, Look> = {
  bluesky: { text: 'beside' },
  threads: { text: 'beside', cutAfter: 320, hasCard: true },
  instagram: { text: 'caption', cutAfter: 125, aspect: 1, shownMedia: 1 },
  facebook: { text: 'below', cutAfter: 480 },
  mastodon: { text: 'beside', hasCard: true },
  tumblr: { text: 'below' },
}
const SHOWN_MEDIA = 4

interface PreviewProps {
  draft: Draft
  account: Account
  /** How the platform publishes threads and comments. */
  rule: ThreadRule | undefined
  /** The answer of the service's check of the draft. */
  report: Report | undefined
}

/** A rough picture of the post on an account: its thread as connected posts, and the comment below. */
export function Preview({ draft, account, rule, report }: PreviewProps) {
  const { _id, platform, profile } = account
  const content = contentFor(draft, account)
  const { posts, comment, isJoined, isLeftOut } = toShownContent(content, rule)
  return (
    <Paper
      withBorder
      p="md"
      className="surface"
      component="article"
      aria-label={`Preview for ${PLATFORMS[platform].name} ${profile.handle}`}
    >
      {isLeftOut ? (
        <Group gap="sm" wrap="nowrap">
          <PlatformMark platform={platform} />
          <Text size="sm" c="dimmed">
            Not published on {PLATFORMS[platform].name} {profile.handle}.
          </Text>
        </Group>
      ) : (
        <>
          {posts.map((post, index) => (
            <ShownPostView
              key={index}
              account={account}
              post={post}
              options={content.options}
              isFirst={index === 0}
              isLast={index === posts.length - 1}
            />
          ))}
          {isJoined && (
            <Text size="xs" c="dimmed" mt="sm">
              Joined to one post.
            </Text>
          )}
          {comment !== null && <Comment account={account} text={comment} options={content.options} />}
        </>
      )}
      <OwnProblems
        errors={report?.errors.filter(({ accountId }) => accountId === _id) ?? []}
        warnings={report?.warnings.filter(({ accountId }) => accountId === _id) ?? []}
      />
    </Paper>
  )
}

const nameOf = ({ profile }: Account) => profile.displayName || profile.handle

interface ShownPostViewProps {
  account: Account
  post: ShownPost
  options: Options
  isFirst: boolean
  isLast: boolean
}

/** A post of a thread, with a line to the next one. */
function ShownPostView({ account, post, options, isFirst, isLast }: ShownPostViewProps) {
  const { platform, profile } = account
  const isBeside = LOOKS[platform].text === 'beside'
  const content = <PostContent account={account} post={post} options={options} isFirst={isFirst} />
  return (
    <>
      <Group gap="sm" wrap="nowrap" align="stretch">
        <Stack gap={4} align="center" pb={isLast ? 0 : 4}>
          <Avatar name={nameOf(account)} color="ink" size={38} alt="" />
          {!isLast && <Box w={2} flex={1} bg="var(--mantine-color-default-border)" />}
        </Stack>
        <Stack gap={0} miw={0} flex={1} pb={isLast ? 0 : 'lg'}>
          <Text size="sm" fw={600} truncate>
            {nameOf(account)}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {profile.handle}
          </Text>
          {isBeside && <Box mt="xs">{content}</Box>}
        </Stack>
        {isFirst && <PlatformMark platform={platform} />}
      </Group>
      {!isBeside && <Box mt="sm">{content}</Box>}
    </>
  )
}

function PostContent({ account, post: { text, media }, options, isFirst }: Omit<ShownPostViewProps, 'isLast'>) {
  const { platform, profile } = account
  const look = LOOKS[platform]
  const isCaption = look.text === 'caption'
  const { mastodon, bluesky, threads, instagram, tumblr } = optionsFor(platform, options)
  const poll = mastodon?.poll ?? threads?.poll
  const isHidden = mastodon?.sensitive === true || bluesky?.labels !== undefined
  const pictures = (
    <HiddenMedia isHidden={isHidden && media.length > 0}>
      <Pictures media={media} aspect={look.aspect} count={look.shownMedia ?? SHOWN_MEDIA} />
    </HiddenMedia>
  )
  const written = instagram?.kind !== 'story' && (
    <PreviewText text={text} cutAfter={look.cutAfter} name={isCaption ? profile.handle : null} />
  )
  return (
    <ContentWarning text={mastodon?.spoilerText}>
      <Stack gap="sm">
        {isCaption ? pictures : written}
        {isCaption ? written : pictures}
        {look.hasCard && media.length === 0 && <LinkCard text={text} />}
        {isFirst && poll && <PollView poll={poll} />}
        {isFirst && bluesky?.quoteUrl && <Quote address={bluesky.quoteUrl} />}
        {tumblr && <TagsAndSource options={tumblr} />}
      </Stack>
    </ContentWarning>
  )
}

const optionsFor = (platform: Platform, options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([of]) => of === platform))

/** The first comment of the author. On Mastodon it is a reply with the warning of the post. */
function Comment({ account, text, options }: { account: Account; text: string; options: Options }) {
  return (
    <>
      <Divider my="sm" label="First comment" labelPosition="left" />
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Avatar name={nameOf(account)} color="ink" size={26} alt="" />
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={600} truncate>
            {nameOf(account)}
          </Text>
          <ContentWarning text={optionsFor(account.platform, options).mastodon?.spoilerText}>
            <PreviewText text={text} cutAfter={undefined} name={null} />
          </ContentWarning>
        </div>
      </Group>
    </>
  )
}

function OwnProblems({ errors, warnings }: Pick<Report, 'errors' | 'warnings'>) {
  if (errors.length + warnings.length === 0) return null
  const line = (icon: ReactNode, message: string) => (
    <Group key={message} gap={6} wrap="nowrap" align="flex-start" c="dimmed">
      {icon}
      <Text size="xs">{message}</Text>
    </Group>
  )
  return (
    <>
      <Divider my="sm" />
      <Stack gap={4}>
        {errors.map((problem) =>
          line(
            <CircleAlert size={14} color="var(--mantine-color-error)" aria-label="Must change:" />,
            describeProblem(problem),
          ),
        )}
        {warnings.map((problem) =>
          line(<TriangleAlert size={14} aria-label="Please check:" />, describeProblem(problem)),
        )}
      </Stack>
    </>
  )
}

const LINK = /https?:\/\/\S*[^\s.,;:!?)'"»]/u

function LinkCard({ text }: { text: string }) {
  const link = LINK.exec(text)?.[0]
  if (link === undefined || !URL.canParse(link)) return null
  return (
    <Paper withBorder p="sm" radius="md">
      <Text size="xs" c="dimmed">
        {new URL(link).host}
      </Text>
      <Text size="sm">The title of the linked page, if it states one</Text>
    </Paper>
  )
}

const PARTS = new RegExp(
  String.raw`(${LINK.source}|(?<![\w@#/])[@#][\p{L}\p{N}_](?:[\p{L}\p{N}_.@-]*[\p{L}\p{N}_])?)`,
  'u',
)

interface PreviewTextProps {
  text: string
  cutAfter: number | undefined
  /** Precedes the text, on platforms that show it so. */
  name: string | null
}

/** Marks links, tags and mentions, and shows where a timeline cuts the text. */
function PreviewText({ text, cutAfter = Infinity, name }: PreviewTextProps) {
  if (text.trim() === '') {
    return (
      <Text size="sm" c="dimmed">
        Your text
      </Text>
    )
  }
  const beginning = [...text].slice(0, cutAfter).join('')
  // Not within a word, unless it is a single long one.
  const shown = beginning.length < text.length ? beginning.replace(/\S+$/u, '') || beginning : text
  const rest = text.slice(shown.length)
  return (
    <div>
      <Text size="sm" className="user-text">
        {name !== null && <Text span inherit fw={600}>{`${name} `}</Text>}
        <Marked text={shown} />
      </Text>
      {rest !== '' && (
        <>
          <Divider my={4} variant="dashed" label="Cut about here, the rest after a click" labelPosition="left" />
          <Text size="sm" c="dimmed" className="user-text">
            <Marked text={rest} />
          </Text>
        </>
      )}
    </div>
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

interface PicturesProps {
  media: DraftMedia[]
  aspect: number | undefined
  count: number
}

function Pictures({ media, aspect, count }: PicturesProps) {
  if (media.length === 0) return null
  const shown = media.slice(0, count)
  const height = shown.length === 1 ? 240 : 130
  return (
    <Box pos="relative">
      <SimpleGrid cols={shown.length === 1 ? 1 : 2} spacing={4}>
        {shown.map(({ storageKey, storageUrl, mimeType, altText = '' }, index) =>
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
              h={aspect ? undefined : height}
              style={{ aspectRatio: aspect, gridColumn: shown.length === 3 && index === 0 ? 'span 2' : undefined }}
            />
          ),
        )}
      </SimpleGrid>
      {media.length > count && (
        <Text size="xs" c="dimmed" mt={4}>
          and {media.length - count} more
        </Text>
      )}
    </Box>
  )
}
