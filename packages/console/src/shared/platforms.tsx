import { Box, Group, Text } from '@mantine/core'
import type { components } from '@postonce/sdk'

export type Platform = components['schemas']['Platform']
export type Account = components['schemas']['Account']

export const PLATFORMS: Record<Platform, { name: string; colour: string; mark: string }> = {
  bluesky: { name: 'Bluesky', colour: '#0a6fd6', mark: 'B' },
  threads: { name: 'Threads', colour: '#2b2b2b', mark: '@' },
  instagram: { name: 'Instagram', colour: '#b3246f', mark: 'I' },
  facebook: { name: 'Facebook', colour: '#1668d6', mark: 'f' },
  mastodon: { name: 'Mastodon', colour: '#563acc', mark: 'M' },
  tumblr: { name: 'Tumblr', colour: '#2c4762', mark: 't' },
}

/** The letter of a platform on its colour. It carries no name for readers of the screen: the name is beside it. */
export function PlatformMark({ platform, size = 20 }: { platform: Platform; size?: number }) {
  const { colour, mark } = PLATFORMS[platform]
  return (
    <Box
      aria-hidden
      w={size}
      h={size}
      bg={colour}
      c="white"
      fz={size * 0.6}
      fw={700}
      lh={`${size}px`}
      ta="center"
      style={{
        borderRadius: size * 0.28,
        flex: 'none',
        // Dark marks have an edge on dark pages.
        boxShadow: '0 0 0 1px var(--mantine-color-default-border)',
      }}
    >
      {mark}
    </Box>
  )
}

/** A platform with the name of an account on it, if there is one. */
export function AccountName({ platform, name }: { platform: Platform; name: string | null }) {
  return (
    <Group gap={8} wrap="nowrap" miw={0}>
      <PlatformMark platform={platform} />
      <Text size="sm" truncate title={name ?? undefined}>
        {name ?? PLATFORMS[platform].name}
        <Text span c="dimmed" size="sm">
          {name === null ? '' : ` · ${PLATFORMS[platform].name}`}
        </Text>
      </Text>
    </Group>
  )
}
