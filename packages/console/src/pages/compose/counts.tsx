import { Group, Text } from '@mantine/core'
import { use } from 'react'
import { PLATFORMS, PlatformMark, type Account } from '../../shared/platforms.tsx'
import { ReportContext, type Count } from './report.ts'

const number = new Intl.NumberFormat()

/** The length of a text, and how much its platform takes. */
export function CountText({ count, id }: { count: Count; id?: string }) {
  const isOver = count.length > count.limit
  return (
    <Text id={id} size="xs" lh={1.25} c={isOver ? 'red' : 'dimmed'} fw={isOver ? 700 : 400}>
      {number.format(count.length)} / {number.format(count.limit)}
    </Text>
  )
}

interface PartCountsProps {
  /** The accounts that publish this part as a post or comment of its own. */
  accounts: Account[]
  /** The number of the part after the first post; -1 is the last. */
  index: number
}

/** The length of a further post or of the comment, as each platform counts it. */
export function PartCounts({ accounts, index }: PartCountsProps) {
  const report = use(ReportContext)
  const counts = accounts.flatMap((account) => {
    const count = report?.accounts?.[account._id]?.parts?.at(index)
    return count ? [{ account, count }] : []
  })
  if (counts.length === 0) return null
  return (
    <Group component="ul" gap="sm" m={0} p={0} aria-label="Length" style={{ listStyle: 'none' }}>
      {counts.map(({ account: { _id, platform, profile }, count }) => (
        <Group
          key={_id}
          component="li"
          gap={6}
          wrap="nowrap"
          title={profile.handle}
          aria-label={`${PLATFORMS[platform].name} ${profile.handle}: ${count.length} of ${count.limit}`}
        >
          <PlatformMark platform={platform} size={16} />
          <CountText count={count} />
        </Group>
      ))}
    </Group>
  )
}
