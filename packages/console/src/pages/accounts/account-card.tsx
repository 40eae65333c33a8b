import { ActionIcon, Avatar, Badge, Button, Group, Indicator, Menu, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { EllipsisVertical } from 'lucide-react'
import { client } from '../../session/session.ts'
import { showDone, showError } from '../../shared/errors.ts'
import { PLATFORMS, PlatformMark, type Account } from '../../shared/platforms.tsx'
import { fromNow } from '../../shared/times.ts'
import { askForBluesky } from './bluesky-form.tsx'
import { loginOf, openLogin } from './connect.ts'
import { askToDisconnect } from './disconnect.tsx'
import { askForLabel } from './label-form.tsx'
import { Quotas } from './quotas.tsx'

const HEALTH: Record<Account['health']['status'], { label: string; color: string }> = {
  active: { label: 'Works', color: 'teal' },
  expiring: { label: 'Login ends soon', color: 'yellow' },
  expired: { label: 'Login has ended', color: 'red' },
  error: { label: 'Needs attention', color: 'red' },
}

interface AccountCardProps {
  account: Account
  /** The other accounts on its platform. */
  others: Account[]
}

export function AccountCard({ account, others }: AccountCardProps) {
  const { _id, platform, profile, server, isDefault, label, health } = account
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['accounts'] })
  const makingDefault = useMutation({
    mutationFn: () => client.accounts.update(_id, { isDefault: true }),
    onError: showError,
    onSuccess: changed,
  })
  const checking = useMutation({
    mutationFn: () => client.accounts.refresh(_id),
    onError: showError,
    onSuccess: () => showDone(`${profile.handle} is connected and works.`),
    onSettled: changed,
  })
  const renewing = useMutation({
    mutationFn: async () => {
      const login = loginOf(account)
      if (login === null) askForBluesky(profile.handle)
      else await openLogin(login, platform === 'mastodon' ? (server ?? '') : '')
    },
    onError: showError,
  })
  const title = label ?? (profile.displayName || profile.handle)
  const { label: healthLabel, color } = HEALTH[health.status]
  const host = server === null ? null : new URL(server).host
  const details = [PLATFORMS[platform].name, host, isDefault && others.length > 0 ? 'default' : null]
  return (
    <Paper
      withBorder
      p="md"
      className="surface"
      component="section"
      aria-label={`${profile.handle}, ${PLATFORMS[platform].name}`}
    >
      <Stack gap="sm">
        <Group wrap="nowrap" align="flex-start">
          <Indicator
            position="bottom-end"
            offset={5}
            size={20}
            color="transparent"
            label={<PlatformMark platform={platform} />}
          >
            <Avatar name={profile.displayName || profile.handle} color="ink" size={44} alt="" />
          </Indicator>
          <Stack gap={0} flex={1} miw={0}>
            <Text fw={600} truncate title={profile.displayName}>
              {title}
            </Text>
            {profile.handle !== title && (
              <Text size="sm" truncate title={profile.handle}>
                {profile.handle}
              </Text>
            )}
            <Text size="xs" c="dimmed" truncate>
              {details.filter(Boolean).join(' · ')}
            </Text>
          </Stack>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${profile.handle}`}>
                <EllipsisVertical size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => checking.mutate()}>Check the connection</Menu.Item>
              <Menu.Item onClick={() => renewing.mutate()}>Connect again</Menu.Item>
              <Menu.Item onClick={() => askForLabel(account)}>Rename here</Menu.Item>
              {!isDefault && <Menu.Item onClick={() => makingDefault.mutate()}>Make default</Menu.Item>}
              <Menu.Item color="red" onClick={() => askToDisconnect(account, others)}>
                Disconnect
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
        <Group gap="xs">
          <Badge variant="light" color={color}>
            {healthLabel}
          </Badge>
          {health.expiresAt && health.status === 'expiring' && <Text size="sm">ends {fromNow(health.expiresAt)}</Text>}
          {checking.isPending && (
            <Text size="sm" c="dimmed" role="status">
              Checking
            </Text>
          )}
        </Group>
        {health.lastError && (
          <Text size="sm" className="user-text">
            {health.lastError}
          </Text>
        )}
        {health.needsReconnection && (
          <Button size="xs" loading={renewing.isPending} onClick={() => renewing.mutate()}>
            Connect again
          </Button>
        )}
        <Quotas account={account} />
      </Stack>
    </Paper>
  )
}
