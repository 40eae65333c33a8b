import { Switch, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { DataTable } from '../../shared/data-table.tsx'
import { showError } from '../../shared/errors.ts'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'

type Preferences = components['schemas']['NotificationPreferences']
type Kind = keyof Preferences['preferences']
type Channel = keyof Preferences['preferences'][Kind]

const KINDS: Record<Kind, string> = {
  postCreated: 'A post is created',
  postPublished: 'A post is published on an account',
  postFailed: 'A post fails, or a part of it',
  postWarning: 'A planned post may fail',
  accountLogin: 'An account needs a new login',
  billing: 'Plan and payments',
  webhook: 'A webhook fails',
  security: 'Security: new keys and webhooks',
}
const CHANNELS: Record<Channel, string> = { list: 'In the console', push: 'Push message', mail: 'Mail' }

/** Which kinds of notifications arrive on which way. Some cannot be switched off. */
export function NotificationSettings() {
  const queries = useQueryClient()
  const key = ['notifications', 'preferences']
  const preferences = useQuery({ queryKey: key, queryFn: () => client.notifications.preferences() })
  const changing = useMutation({
    mutationFn: ({ kind, channel, on }: { kind: Kind; channel: Channel; on: boolean }) =>
      client.notifications.setPreferences({ [kind]: { [channel]: on } }),
    onError: showError,
    onSuccess: (changed) => queries.setQueryData(key, changed),
  })
  return (
    <Section title="Notifications" lead="What you want to hear about, and how.">
      <QueryView query={preferences}>
        {({ preferences: all, required }) => (
          <DataTable head={['When', ...Object.values(CHANNELS)]} minWidth={300}>
            {(Object.keys(KINDS) as Kind[]).map((kind) => (
              <Table.Tr key={kind}>
                <Table.Td>{KINDS[kind]}</Table.Td>
                {(Object.keys(CHANNELS) as Channel[]).map((channel) => (
                  <Table.Td key={channel}>
                    <Switch
                      aria-label={`${KINDS[kind]}: ${CHANNELS[channel]}`}
                      checked={all[kind][channel]}
                      disabled={required[kind]?.includes(channel) ?? false}
                      onChange={({ currentTarget }) => changing.mutate({ kind, channel, on: currentTarget.checked })}
                    />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryView>
      <Text size="xs" c="dimmed" mt="xs">
        Mails are sent where the operator has set up a mail server.
      </Text>
    </Section>
  )
}
