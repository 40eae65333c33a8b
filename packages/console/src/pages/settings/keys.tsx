import { Button, Checkbox, Code, CopyButton, Group, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import { DatePickerInput } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { KeyRound } from 'lucide-react'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { DataTable } from '../../shared/data-table.tsx'
import { client } from '../../session/session.ts'
import { problemsByField, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'

type Scope = components['schemas']['ApiKeyScope']
type CreatedKey = components['schemas']['CreatedApiKey']

const SCOPES: Record<Scope, string> = {
  'posts:read': 'Read posts',
  'posts:draft': 'Write drafts',
  'posts:publish': 'Publish and plan posts',
  'accounts:read': 'Read accounts',
  'accounts:write': 'Change accounts',
  'analytics:read': 'Read analytics',
  'events:read': 'Read events',
  'captions:generate': 'Generate captions',
  'notifications:read': 'Read notifications',
  'notifications:write': 'Mark notifications as read',
  'webhooks:read': 'Read webhooks',
  'webhooks:write': 'Change webhooks',
}

export function KeySettings() {
  const queries = useQueryClient()
  const { date } = useTimes()
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => client.request('GET', '/api/keys') })
  const deleting = useMutation({
    mutationFn: (keyId: string) => client.request('DELETE', '/api/keys/{keyId}', { path: { keyId } }),
    onError: showError,
    onSettled: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const askToDelete = (id: string, name: string) =>
    askToConfirm({
      title: `Delete the key ${name}?`,
      children: <Text size="sm">Programs that use it stop working immediately.</Text>,
      labels: { confirm: 'Delete', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => deleting.mutate(id),
    })
  return (
    <Section
      title="API keys"
      lead="For programs, the command line and agents. Each key may do only what you allow."
      actions={
        <Button size="xs" onClick={askForKey}>
          New key
        </Button>
      }
    >
      <QueryView query={keys}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={KeyRound} title="No keys yet">
              Make one for each program, so that you can end them one by one.
            </Empty>
          ) : (
            <DataTable head={['Name', 'May', 'Last used', 'Ends', 'Actions']}>
              {list.map(({ id, name, hint, scopes, lastUsedAt, expiresAt }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    {name}
                    <br />
                    <Code>{hint}</Code>
                  </Table.Td>
                  <Table.Td>{scopes.map((scope) => SCOPES[scope]).join(', ')}</Table.Td>
                  <Table.Td>{lastUsedAt ? fromNow(lastUsedAt) : 'never'}</Table.Td>
                  <Table.Td>{expiresAt ? date(expiresAt) : 'never'}</Table.Td>
                  <Table.Td ta="right">
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      color="red"
                      loading={deleting.isPending && deleting.variables === id}
                      onClick={() => askToDelete(id, name)}
                    >
                      Delete
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </QueryView>
    </Section>
  )
}

function askForKey(): void {
  const modalId = modals.open({
    title: 'A new API key',
    children: (
      <KeyForm
        done={(key) => {
          modals.close(modalId)
          showKey(key)
        }}
      />
    ),
  })
}

function KeyForm({ done }: { done: (key: CreatedKey) => void }) {
  const queries = useQueryClient()
  const form = useForm<{ name: string; scopes: Scope[]; expiresOn: string | null }>({
    mode: 'uncontrolled',
    initialValues: { name: '', scopes: ['posts:draft', 'accounts:read'], expiresOn: null },
  })
  const creating = useMutation({
    mutationFn: ({ name, scopes, expiresOn }: typeof form.values) =>
      client.request('POST', '/api/keys', {
        body: { name, scopes, expiresAt: expiresOn === null ? null : new Date(expiresOn).toISOString() },
      }),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: async (key) => {
      await queries.invalidateQueries({ queryKey: ['keys'] })
      done(key)
    },
  })
  return (
    <FieldForm sending={creating} onSubmit={form.onSubmit((values) => creating.mutate(values))} submit="Create the key">
      <TextInput
        label="Name"
        placeholder="Nightly import"
        required
        data-autofocus
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <Checkbox.Group label="It may" key={form.key('scopes')} {...form.getInputProps('scopes')}>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={6}>
          {Object.entries(SCOPES).map(([scope, label]) => (
            <Checkbox key={scope} value={scope} label={label} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <DatePickerInput
        label="Ends on"
        placeholder="Never"
        clearable
        minDate={new Date()}
        key={form.key('expiresOn')}
        {...form.getInputProps('expiresOn')}
      />
    </FieldForm>
  )
}

/** Shows a secret that no other answer contains. */
function showKey({ key }: CreatedKey): void {
  modals.open({
    title: 'Your new key',
    closeOnClickOutside: false,
    children: <Secret value={key} />,
  })
}

export function Secret({ value }: { value: string }) {
  return (
    <Stack>
      <Text size="sm">Copy it now: it is not shown again.</Text>
      <Code block className="user-text">
        {value}
      </Code>
      <Group justify="flex-end">
        <CopyButton value={value}>
          {({ copied, copy }) => <Button onClick={copy}>{copied ? 'Copied' : 'Copy'}</Button>}
        </CopyButton>
      </Group>
    </Stack>
  )
}
