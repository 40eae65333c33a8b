import { Badge, Button, Checkbox, Group, PasswordInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { client, forget, useUser } from '../../session/session.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { problemsByField, showDone, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { fromNow } from '../../shared/times.ts'

export function SecuritySettings() {
  const { auth } = useUser()
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {auth.provider === 'email' && <Password />}
      <Devices />
    </SimpleGrid>
  )
}

function Password() {
  const queries = useQueryClient()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '', newPassword: '', endsApiKeys: false },
  })
  const changing = useMutation({
    mutationFn: (body: typeof form.values) => client.request('PATCH', '/api/profile/change-password', { body }),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: async () => {
      form.reset()
      showDone('The password is changed, and all other devices are logged out.')
      await queries.invalidateQueries({ queryKey: ['devices'] })
    },
  })
  return (
    <Section title="Password" lead="A new password logs out all other devices.">
      <FieldForm sending={changing} onSubmit={form.onSubmit((values) => changing.mutate(values))} submit="Change">
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          key={form.key('currentPassword')}
          {...form.getInputProps('currentPassword')}
        />
        <PasswordInput
          label="New password"
          description="At least 8 characters."
          autoComplete="new-password"
          required
          key={form.key('newPassword')}
          {...form.getInputProps('newPassword')}
        />
        <Checkbox
          label="Also delete all API keys"
          description="Programs that use them stop working."
          key={form.key('endsApiKeys')}
          {...form.getInputProps('endsApiKeys', { type: 'checkbox' })}
        />
      </FieldForm>
    </Section>
  )
}

function Devices() {
  const queries = useQueryClient()
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: () => client.request('GET', '/api/auth/devices'),
  })
  const ending = useMutation({
    mutationFn: (tokenId: string) => client.request('DELETE', '/api/auth/devices/{tokenId}', { path: { tokenId } }),
    onError: showError,
    onSettled: () => queries.invalidateQueries({ queryKey: ['devices'] }),
  })
  const endingAll = useMutation({
    mutationFn: () => client.request('DELETE', '/api/auth/logout/all'),
    onError: showError,
    onSuccess: forget,
  })
  const askToEndAll = () =>
    askToConfirm({
      title: 'Log out everywhere?',
      children: <Text size="sm">All devices are logged out, this one included. API keys stay valid.</Text>,
      labels: { confirm: 'Log out everywhere', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => endingAll.mutate(),
    })
  return (
    <Section
      title="Devices"
      lead="Where you are logged in."
      actions={
        <Button size="xs" variant="default" loading={endingAll.isPending} onClick={askToEndAll}>
          Log out everywhere
        </Button>
      }
    >
      <QueryView query={devices}>
        {(list) => (
          <Stack gap="sm" component="ul" m={0} p={0}>
            {list.map(({ tokenId, userAgent, ipAddress, lastActive, isCurrent }) => (
              <Group key={tokenId} component="li" justify="space-between" wrap="nowrap">
                <Stack gap={0} miw={0}>
                  <Text size="sm" truncate title={userAgent}>
                    {nameProgram(userAgent)}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {ipAddress} · active {fromNow(lastActive)}
                  </Text>
                </Stack>
                {isCurrent ? (
                  <Badge variant="light" style={{ flex: 'none' }}>
                    This device
                  </Badge>
                ) : (
                  <Button
                    size="compact-xs"
                    variant="default"
                    style={{ flex: 'none' }}
                    loading={ending.isPending && ending.variables === tokenId}
                    onClick={() => ending.mutate(tokenId)}
                  >
                    Log out
                  </Button>
                )}
              </Group>
            ))}
          </Stack>
        )}
      </QueryView>
    </Section>
  )
}

/** In this order, because many browsers also name those whose pages they can show. */
const BROWSERS = { Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', Chrome: 'Chrome', Safari: 'Safari' }
const SYSTEMS = {
  Android: 'Android',
  iPhone: 'iPhone',
  iPad: 'iPad',
  'Mac OS': 'macOS',
  Windows: 'Windows',
  Linux: 'Linux',
}

/** Such as "Firefox on Windows"; programs that are no browsers have their own words. */
function nameProgram(userAgent: string): string {
  const find = (names: object) => Object.entries(names).find(([part]) => userAgent.includes(part))?.[1] as string
  const browser = userAgent.startsWith('Mozilla/') && find(BROWSERS)
  if (!browser) return userAgent || 'Unknown program'
  const system = find(SYSTEMS)
  return system ? `${browser} on ${system}` : browser
}
