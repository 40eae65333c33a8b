import { Anchor, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { EyeOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { namePollTime, type Poll, type TumblrOptions } from './options.ts'

/** Hides a post behind its warning, as Mastodon does. */
export function ContentWarning({ text, children }: { text: string | undefined; children: ReactNode }) {
  const [isOpen, { toggle }] = useDisclosure()
  if (!text) return children
  return (
    <Stack gap="sm">
      <Text size="sm" className="user-text">
        {text}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        aria-expanded={isOpen}
        onClick={toggle}
        style={{ alignSelf: 'flex-start' }}
      >
        {isOpen ? 'Show less' : 'Show more'}
      </Button>
      {isOpen && children}
    </Stack>
  )
}

/** Media that readers have to open. */
export function HiddenMedia({ isHidden, children }: { isHidden: boolean; children: ReactNode }) {
  const [isOpen, { open }] = useDisclosure()
  if (!isHidden || isOpen) return children
  return (
    <Paper withBorder p="md" radius="md">
      <Group gap="xs" justify="center">
        <EyeOff size={16} aria-hidden />
        <Text size="sm">Hidden until a reader opens it</Text>
        <Button size="compact-xs" variant="default" onClick={open}>
          Show
        </Button>
      </Group>
    </Paper>
  )
}

export function PollView({
  poll: { options, expiresIn, multiple = false },
}: {
  poll: Pick<Poll, 'options'> & Partial<Poll>
}) {
  return (
    <Stack gap={6} role="group" aria-label="Poll">
      {options.map((option, index) => (
        <Paper key={index} withBorder px="sm" py={6} radius={multiple ? 'sm' : 'xl'}>
          <Text size="sm" truncate>
            {option.trim() === '' ? `Option ${index + 1}` : option}
          </Text>
        </Paper>
      ))}
      {expiresIn !== undefined && (
        <Text size="xs" c="dimmed">
          {multiple ? 'Several can be chosen. ' : ''}Runs for {namePollTime(expiresIn)}.
        </Text>
      )}
    </Stack>
  )
}

export function Quote({ address }: { address: string }) {
  return (
    <Paper withBorder p="sm" radius="md">
      <Text size="xs" c="dimmed">
        Quoted post
      </Text>
      <Text size="sm" className="user-text">
        {address}
      </Text>
    </Paper>
  )
}

export function TagsAndSource({ options: { tags = [], sourceUrl } }: { options: TumblrOptions }) {
  return (
    <>
      {tags.length > 0 && (
        <Group gap="xs">
          {tags.map((tag) => (
            <Text key={tag} size="sm" c="dimmed">
              #{tag}
            </Text>
          ))}
        </Group>
      )}
      {sourceUrl && (
        <Text size="xs" c="dimmed" className="user-text">
          Source:{' '}
          <Anchor component="span" inherit>
            {sourceUrl}
          </Anchor>
        </Text>
      )}
    </>
  )
}
