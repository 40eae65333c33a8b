import { Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { countOf } from '../../shared/counts.ts'
import type { Account } from '../../shared/platforms.tsx'
import { fromNow } from '../../shared/times.ts'

const HOUR_SECONDS = 3_600

/** How many posts the platform still accepts of the account, where it has such a limit. */
export function Quotas({ account: { _id, platform } }: { account: Account }) {
  const { data } = useQuery({
    queryKey: ['limits', _id],
    queryFn: () => client.accounts.limits({ account: _id }),
    staleTime: 60_000,
  })
  return data?.[platform].publications?.map(({ limit, used, windowSeconds, waiting, nextFreeAt }) => {
    const text = `${used} of ${countOf(limit, 'post')} in ${windowSeconds / HOUR_SECONDS} hours`
    return (
      <Stack gap={4} key={windowSeconds}>
        <Progress.Root size="sm">
          <Progress.Section value={(used / limit) * 100} color={used >= limit ? 'red' : 'ink'} aria-label={text} />
        </Progress.Root>
        <Text size="xs" c="dimmed">
          {text}
          {waiting > 0 && `, ${waiting} waiting`}
          {nextFreeAt && `. The next one is possible ${fromNow(nextFreeAt)}`}
        </Text>
      </Stack>
    )
  })
}
