import { useId } from '@mantine/hooks'
import { DateTimePicker, type DateTimePickerProps } from '@mantine/dates'
import { useTimes } from './times.ts'

type TimeFieldProps = Omit<DateTimePickerProps, 'ref'>

/** A date and time as a person reads them, with names for the controls of the calendar that opens. */
export function TimeField({ popoverProps, ...props }: TimeFieldProps) {
  const id = useId()
  const { dateOf } = useTimes()
  return (
    <DateTimePicker
      id={id}
      // The same id, so that the field names the calendar.
      popoverProps={{ ...popoverProps, id }}
      valueFormat="ddd, D MMM YYYY, HH:mm"
      previousLabel="Previous month"
      nextLabel="Next month"
      timePickerProps={{ hoursInputLabel: 'Hours', minutesInputLabel: 'Minutes' }}
      submitButtonProps={{ 'aria-label': 'Done' }}
      // Without a value the calendar opens here, else in the month of the browser's zone.
      defaultDate={dateOf(Date.now())}
      {...props}
    />
  )
}
