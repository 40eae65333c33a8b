import { Anchor, Checkbox, Group, SimpleGrid, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { PLATFORMS, PlatformMark, type Account } from '../../shared/platforms.tsx'
import { CountText } from './counts.tsx'
import type { Count, Report } from './report.ts'

interface TargetsProps {
  accounts: Account[]
  chosen: string[]
  report: Report | undefined
  onChange: (ids: string[]) => void
}

/** The accounts to publish on, the default ones first, each with the length of its text as its platform counts it. */
export function Targets({ accounts, chosen, report, onChange }: TargetsProps) {
  return (
    <Checkbox.Group value={chosen} onChange={onChange} aria-label="Publish on">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {byDefault(accounts).map((account) => (
          <Target key={account._id} account={account} count={report?.accounts?.[account._id]} />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

const byDefault = (accounts: Account[]) =>
  accounts.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault))

function Target({ account, count }: { account: Account; count: Count | undefined }) {
  const { _id, platform, profile, label, health } = account
  const countId = useId()
  return (
    <div>
      <Checkbox.Card
        value={_id}
        p="xs"
        radius="md"
        aria-label={`${PLATFORMS[platform].name} ${profile.handle}`}
        aria-describedby={count && countId}
      >
        <Group gap="sm" wrap="nowrap">
          <Checkbox.Indicator />
          <PlatformMark platform={platform} />
          <div style={{ minWidth: 0, flex: 1 }}>
            <Text size="sm" lh={1.25} truncate title={profile.handle}>
              {label ?? profile.handle}
            </Text>
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="xs" lh={1.25} c="dimmed">
                {PLATFORMS[platform].name}
              </Text>
              {count && <CountText id={countId} count={count} />}
            </Group>
          </div>
        </Group>
      </Checkbox.Card>
      {health.needsReconnection && (
        <Text size="xs" c="red" mt={4}>
          Needs a new login.{' '}
          <Anchor component={Link} to="/accounts" size="xs" underline="always">
            Log in again
          </Anchor>
        </Text>
      )}
    </div>
  )
}
