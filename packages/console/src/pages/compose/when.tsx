import { Anchor, Group, Select, SegmentedControl, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { TimeField } from '../../shared/time-field.tsx'
import { listTimezones } from '../../shared/timezones.ts'
import { useTimes } from '../../shared/times.ts'
import { useUser } from '../../session/session.ts'
import { isPast, NEXT_SLOT, toInstant, toWallTime, type WallTime } from '../../shared/wall-times.ts'
import type { Draft } from './draft.ts'

const HOUR_MS = 3_600_000

type At = Draft['at']

interface WhenProps {
  at: At
  /** The slot that the post would take now; undefined while it is not known, and where there is none. */
  nextSlot: string | undefined
  onChange: (at: At) => void
}

/** Publishes now, at a time of any zone, or in the next free slot of the accounts. */
export function When({ at, nextSlot, onChange }: WhenProps) {
  const { timezone } = useTimes()
  const inAnHour = () => ({ time: `${toWallTime(Date.now() + HOUR_MS, timezone).slice(0, 16)}:00`, timezone })
  const toAt = (value: string): At => (value === 'now' ? null : value === NEXT_SLOT ? NEXT_SLOT : inAnHour())
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="When to publish"
        value={at === null ? 'now' : at === NEXT_SLOT ? NEXT_SLOT : 'later'}
        onChange={(value) => onChange(toAt(value))}
        data={[
          { value: 'now', label: 'Now' },
          { value: 'later', label: 'Later' },
          { value: NEXT_SLOT, label: 'Next slot' },
        ]}
      />
      {at === null && <Hold />}
      {at === NEXT_SLOT && <Slot at={nextSlot} />}
      {at !== null && at !== NEXT_SLOT && <Later at={at} onChange={onChange} />}
    </Stack>
  )
}

function Hold() {
  const { holdSeconds } = useUser()
  return (
    <Text size="sm" c="dimmed">
      {holdSeconds === 0
        ? 'The post is sent as soon as you publish it.'
        : `The post is sent ${holdSeconds} seconds after you publish it. Until then you can undo it.`}
    </Text>
  )
}

function Slot({ at }: { at: string | undefined }) {
  const { dateTime, timezone } = useTimes()
  return (
    <Text size="sm" c="dimmed" role="status">
      {at === undefined
        ? 'The post takes the next free slot of its first account that has slots. '
        : `The next free slot is ${dateTime(at)} (${timezone}). `}
      <Anchor component={Link} to="/settings/slots" size="sm">
        Change your slots
      </Anchor>
    </Text>
  )
}

function Later({ at, onChange }: { at: WallTime; onChange: (at: WallTime) => void }) {
  const { timezone, dateTime } = useTimes()
  return (
    <>
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
      {at.timezone !== timezone && (
        <Text size="sm" c="dimmed">
          That is {dateTime(toInstant(at))} in {timezone}.
        </Text>
      )}
    </>
  )
}
