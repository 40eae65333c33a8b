import { Group, NumberInput, Select } from '@mantine/core'
import type { Draft } from './draft.ts'

type IfLate = Draft['ifLate']

const CHOICES = [
  { value: 'send', label: 'Send it all the same' },
  { value: 'skip', label: 'Skip it' },
  { value: 'ask', label: 'Let me decide' },
]
const FIRST_MINUTES = 60
const MAX_MINUTES = 1_440

/** The action for a post that could not be sent in time, for example because its platform was unreachable. */
export function Late({ ifLate, onChange }: { ifLate: IfLate; onChange: (ifLate: IfLate) => void }) {
  const minutes = ifLate?.afterMinutes ?? FIRST_MINUTES
  const choose = (action: string | null) =>
    onChange(action === 'skip' || action === 'ask' ? { action, afterMinutes: minutes } : null)
  return (
    <Group align="flex-start" grow mt="sm">
      <Select
        label="If it is late"
        data={CHOICES}
        allowDeselect={false}
        value={ifLate?.action ?? 'send'}
        onChange={choose}
      />
      {ifLate && (
        <NumberInput
          label="Minutes after its time"
          min={1}
          max={MAX_MINUTES}
          clampBehavior="strict"
          allowDecimal={false}
          value={minutes}
          // An empty field keeps the number before.
          onChange={(value) => Number(value) > 0 && onChange({ ...ifLate, afterMinutes: Number(value) })}
        />
      )}
    </Group>
  )
}
