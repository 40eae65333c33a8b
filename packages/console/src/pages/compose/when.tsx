import { Group, Select, SegmentedControl, Stack, Text } from '@mantine/core'
import { TimeField } from '../../shared/time-field.tsx'
import { listTimezones } from '../../shared/timezones.ts'
import { useTimes } from '../../shared/times.ts'
import { useUser } from '../../session/session.ts'
import { isPast, toInstant, toWallTime, type WallTime } from '../../shared/wall-times.ts'

const HOUR_MS = 3_600_000

/** Publishes now, or at a time of any zone. */
export function When({ at, onChange }: { at: WallTime | null; onChange: (at: WallTime | null) => void }) {
  const { timezone, dateTime } = useTimes()
  const { holdSeconds } = useUser()
  const inAnHour = () => ({ time: `${toWallTime(Date.now() + HOUR_MS, timezone).slice(0, 16)}:00`, timezone })
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="When to publish"
        value={at === null ? 'now' : 'later'}
        onChange={(value) => onChange(value === 'now' ? null : inAnHour())}
        data={[
          { value: 'now', label: 'Now' },
          { value: 'later', label: 'Later' },
        ]}
      />
      {at !== null && (
        <Group align="flex-start" grow>
          <TimeField
            label="Time"
            value={at.time}
            onChange={(time) => time && onChange({ ...at, time })}
            error={isPast(at) ? 'This time is over. Choose a later one.' : null}
          />
          <Select
            label="Timezone"
            data={listTimezones(at.timezone)}
            searchable
            allowDeselect={false}
            limit={100}
            value={at.timezone}
            onChange={(zone) => zone && onChange({ ...at, timezone: zone })}
          />
        </Group>
      )}
      {at !== null && at.timezone !== timezone && (
        <Text size="sm" c="dimmed">
          That is {dateTime(toInstant(at))} in {timezone}.
        </Text>
      )}
      {at === null && (
        <Text size="sm" c="dimmed">
          {holdSeconds === 0
            ? 'The post is sent as soon as you publish it.'
            : `The post is sent ${holdSeconds} seconds after you publish it. Until then you can undo it.`}
        </Text>
      )}
    </Stack>
  )
}
