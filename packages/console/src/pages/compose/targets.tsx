import { Anchor, Checkbox, Group, SimpleGrid, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { PLATFORMS, PlatformMark, type Account } from '../../shared/platforms.tsx'

type Report = components['schemas']['ValidationReport']

interface TargetsProps {
  accounts: Account[]
  chosen: string[]
  report: Report | undefined
  onChange: (ids: string[]) => void
}

/** The accounts to publish on, each with the length of its text as its platform counts it. */
export function Targets({ accounts, chosen, report, onChange }: TargetsProps) {
  return (
    <Checkbox.Group value={chosen} onChange={onChange} aria-label="Publish on">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {accounts.map((account) => (
          <Target key={account._id} account={account} count={report?.accounts?.[account._id]} />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

type Count = NonNullable<Report['accounts']>[string]

function Target({ account, count }: { account: Account; count: Count | undefined }) {
  const { _id, platform, profile, label, health } = account
  return (
    <Checkbox.Card value={_id} p="xs" radius="md" aria-label={`${PLATFORMS[platform].name} ${profile.handle}`}>
      <Group gap="sm" wrap="nowrap">
        <Checkbox.Indicator />
        <div style={{ minWidth: 0, flex: 1 }}>
          <Group gap={8} wrap="nowrap">
            <PlatformMark platform={platform} />
            <div style={{ minWidth: 0 }}>
              <Text size="sm" lh={1.25} truncate title={profile.handle}>
                {label ?? profile.handle}
              </Text>
              <Text size="xs" lh={1.25} c="dimmed" truncate>
                {PLATFORMS[platform].name}
              </Text>
            </div>
          </Group>
          {health.needsReconnection && (
            <Text size="xs" c="red">
              Needs a new login.{' '}
              <Anchor component={Link} to="/accounts" size="xs" onClick={(event) => event.stopPropagation()}>
                Accounts
              </Anchor>
            </Text>
          )}
        </div>
        {count && (
          <Text size="xs" c={count.length > count.limit ? 'red' : 'dimmed'} fw={count.length > count.limit ? 700 : 400}>
            {count.length} / {count.limit}
          </Text>
        )}
      </Group>
    </Checkbox.Card>
  )
}
