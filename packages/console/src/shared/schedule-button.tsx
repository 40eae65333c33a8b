import { Button, Popover, Stack } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { TimeField } from './time-field.tsx'
import { useTimes } from './times.ts'
import { isPast, type WallTime } from './wall-times.ts'

interface ScheduleButtonProps {
  label?: string
  /** Beside the field, for example that several posts get the time. */
  hint?: ReactNode
  onChoose: (at: WallTime) => Promise<void>
}

/** A button that opens a form for a time in the user's timezone. */
export function ScheduleButton({ label = 'Schedule', hint, onChoose }: ScheduleButtonProps) {
  const { timezone } = useTimes()
  const [isOpen, setOpen] = useState(false)
  const [time, setTime] = useState<string | null>(null)
  const isOver = time !== null && isPast({ time, timezone })
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus withArrow>
      <Popover.Target>
        <Button size="xs" variant="default" onClick={() => setOpen(!isOpen)}>
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" miw={220}>
          <TimeField
            label="Publish at"
            description={`Time in ${timezone}`}
            value={time}
            onChange={setTime}
            popoverProps={{ withinPortal: false }}
            error={isOver ? 'This time is over. Choose a later one.' : null}
          />
          {hint}
          <Button
            size="xs"
            disabled={time === null || isOver}
            onClick={() => {
              setOpen(false)
              if (time !== null) void onChoose({ time, timezone })
            }}
          >
            {label}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
