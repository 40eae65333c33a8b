import { Text } from '@mantine/core'

const whole = new Intl.NumberFormat()

/** A number in the locale of the browser; unknown ones are a dash. */
export function Figure({ value }: { value: number | null }) {
  if (value !== null) return whole.format(value)
  return (
    <Text span c="dimmed" aria-label="unknown" role="img">
      –
    </Text>
  )
}
