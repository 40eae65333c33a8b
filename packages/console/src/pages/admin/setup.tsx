import { Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { PLATFORMS } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'

type Entry = components['schemas']['SetupEntry']

const STATES: Record<Entry['state'], { label: string; color: string }> = {
  failing: { label: 'Fails', color: 'red' },
  missing: { label: 'Missing', color: 'orange' },
  off: { label: 'Off', color: 'gray' },
  ready: { label: 'Ready', color: 'teal' },
}

const PARTS: Record<Entry['part'], string> = {
  publicUrl: 'Public address',
  frontendUrl: 'Address of the console',
  temporal: 'Temporal',
  worker: 'Worker',
  schedules: 'Schedules',
  encryptionKeys: 'Encryption keys',
  storage: 'Object storage',
  publicStorage: 'Object storage from outside',
  mail: 'Mail',
  google: 'Login with Google',
  captions: 'Captions',
  payments: 'Payments',
  push: 'Push messages',
  bluesky: PLATFORMS.bluesky.name,
  threads: PLATFORMS.threads.name,
  instagram: PLATFORMS.instagram.name,
  facebook: PLATFORMS.facebook.name,
  mastodon: PLATFORMS.mastodon.name,
  tumblr: PLATFORMS.tumblr.name,
}

/** The missing and failing parts of the set-up, each with its meaning for users and the next step. */
export function SetupPanel() {
  const setup = useQuery({ queryKey: ['admin', 'setup'], queryFn: () => client.request('GET', '/api/admin/setup') })
  const order = Object.keys(STATES)
  return (
    <Section title="Set-up" lead="What needs you comes first.">
      <QueryView query={setup}>
        {(entries) => (
          <Stack component="ul" gap="md" m={0} p={0}>
            {entries
              .toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
              .map(({ part, state, effect, problem, nextStep }) => (
                <Stack key={part} component="li" gap={2} display="flex">
                  <Group gap="sm">
                    <Badge variant="light" color={STATES[state].color} w={88}>
                      {STATES[state].label}
                    </Badge>
                    <Text fw={600}>{PARTS[part]}</Text>
                  </Group>
                  <Text size="sm">{effect}</Text>
                  {problem && (
                    <Text size="sm" c="dimmed" className="user-text">
                      {problem}
                    </Text>
                  )}
                  {nextStep && <Text size="sm">{nextStep}</Text>}
                </Stack>
              ))}
          </Stack>
        )}
      </QueryView>
    </Section>
  )
}
