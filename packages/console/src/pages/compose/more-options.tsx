import { Accordion, Group, Paper, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { PLATFORMS, PlatformMark, type Account } from '../../shared/platforms.tsx'
import { BlueskyFields } from './bluesky-fields.tsx'
import type { Options } from './draft.ts'
import { InstagramFields } from './instagram-fields.tsx'
import { MastodonFields } from './mastodon-fields.tsx'
import { withOptions, type Change } from './options.ts'
import { useFieldError } from './report.ts'
import { ThreadsFields } from './threads-fields.tsx'
import { TumblrFields } from './tumblr-fields.tsx'

interface MoreOptionsProps {
  options: Options
  /** The accounts that are chosen. */
  accounts: Account[]
  onChange: (options: Options) => void
}

const WITH_OPTIONS = ['bluesky', 'threads', 'instagram', 'mastodon', 'tumblr'] as const

/** The options of the chosen platforms. The section opens by itself where something in it must change. */
export function MoreOptions({ options, accounts, onChange }: MoreOptionsProps) {
  const [isOpen, setOpen] = useState(false)
  const hasError = useFieldError('content.options') !== null
  const shown = WITH_OPTIONS.filter((one) => accounts.some(({ platform }) => platform === one))
  if (shown.length === 0) return null
  const change =
    <P extends keyof Options>(platform: P): Change<NonNullable<Options[P]>> =>
    (part) =>
      onChange(withOptions(options, platform, part))
  const set = shown.filter((platform) => options[platform] !== undefined)
  const names = (set.length > 0 ? set : shown).map((platform) => PLATFORMS[platform].name).join(', ')
  return (
    <Paper withBorder className="surface" component="section" aria-label="More options">
      <Accordion
        order={2}
        value={isOpen || hasError ? 'options' : null}
        onChange={(value) => setOpen(value !== null)}
        styles={{ item: { border: 0 } }}
      >
        <Accordion.Item value="options">
          <Accordion.Control>
            <Text span fw={650} size="lg">
              More options
            </Text>{' '}
            <Text span size="sm" c="dimmed">
              {set.length > 0 ? `set for ${names}` : names}
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="xl">
              {shown.includes('bluesky') && (
                <PlatformFields platform="bluesky">
                  <BlueskyFields options={options.bluesky ?? {}} onChange={change('bluesky')} />
                </PlatformFields>
              )}
              {shown.includes('threads') && (
                <PlatformFields platform="threads">
                  <ThreadsFields options={options.threads ?? {}} onChange={change('threads')} />
                </PlatformFields>
              )}
              {shown.includes('instagram') && (
                <PlatformFields platform="instagram">
                  <InstagramFields options={options.instagram ?? {}} onChange={change('instagram')} />
                </PlatformFields>
              )}
              {shown.includes('mastodon') && (
                <PlatformFields platform="mastodon">
                  <MastodonFields options={options.mastodon ?? {}} onChange={change('mastodon')} />
                </PlatformFields>
              )}
              {shown.includes('tumblr') && (
                <PlatformFields platform="tumblr">
                  <TumblrFields options={options.tumblr ?? {}} onChange={change('tumblr')} />
                </PlatformFields>
              )}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Paper>
  )
}

function PlatformFields({ platform, children }: { platform: keyof Options; children: ReactNode }) {
  const { name } = PLATFORMS[platform]
  return (
    <Stack gap="sm" component="section" aria-label={`Options for ${name}`}>
      <Group gap="xs">
        <PlatformMark platform={platform} />
        <Text size="sm" fw={600}>
          {name}
        </Text>
      </Group>
      {children}
    </Stack>
  )
}
