import { Button, Group, NumberInput, Popover, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import type { ListedPost } from '../../shared/post-actions.tsx'
import { useTimes } from '../../shared/times.ts'
import { isPast, moveWallTime, toInstant, toWallTime, type WallTime } from '../../shared/wall-times.ts'

const UNITS = { hour: 'hours', day: 'days', week: 'weeks' }
type Unit = keyof typeof UNITS

interface MoveButtonProps {
  /** All have a time. */
  posts: ListedPost[]
  onMove: (moved: { post: ListedPost; at: WallTime }[]) => Promise<void>
}

/** A button that opens a form to move posts by the same time, for example a week later. Days and weeks keep the time of day. */
export function MoveButton({ posts, onMove }: MoveButtonProps) {
  const { timezone, dateTime } = useTimes()
  const [isOpen, { toggle, close }] = useDisclosure()
  const [direction, setDirection] = useState('later')
  const [amount, setAmount] = useState<string | number>(1)
  const [unit, setUnit] = useState<Unit>('day')
  const steps = Number(amount) * (direction === 'later' ? 1 : -1)
  const moved = posts.map((post) => {
    const from = { time: toWallTime(post.scheduledAt!, timezone), timezone }
    return { post, at: moveWallTime(from, steps, unit) }
  })
  const isOver = moved.some(({ at }) => isPast(at))
  const first = moved.map(({ at }) => toInstant(at)).toSorted()[0]!
  return (
    <Popover opened={isOpen} onChange={(opened) => !opened && close()} trapFocus withArrow>
      <Popover.Target>
        <Button size="xs" variant="default" onClick={toggle}>
          Move by
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <SegmentedControl
            aria-label="Direction"
            value={direction}
            onChange={setDirection}
            data={['earlier', 'later']}
          />
          <Group gap="xs" wrap="nowrap">
            <NumberInput
              aria-label="Number"
              w={90}
              min={1}
              max={999}
              allowDecimal={false}
              value={amount}
              onChange={setAmount}
              data-autofocus
            />
            <Select
              aria-label="Unit"
              w={120}
              data={Object.entries(UNITS).map(([value, label]) => ({ value, label }))}
              value={unit}
              onChange={(value) => value && setUnit(value as Unit)}
              allowDeselect={false}
              comboboxProps={{ withinPortal: false }}
            />
          </Group>
          <Text size="sm" c={isOver ? 'red' : 'dimmed'} role="status">
            {isOver ? 'Times that are over cannot be chosen.' : `The first is then due ${dateTime(first)}.`}
          </Text>
          <Button
            size="xs"
            disabled={isOver || !(Number(amount) > 0)}
            onClick={() => {
              close()
              void onMove(moved)
            }}
          >
            {posts.length === 1 ? 'Move the post' : `Move ${posts.length} posts`}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
