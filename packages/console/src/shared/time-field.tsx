import { useId } from '@mantine/hooks'
import { DateTimePicker, type DateTimePickerProps } from '@mantine/dates'

type TimeFieldProps = Omit<DateTimePickerProps, 'ref'>

/** A date and time as a person reads them, with names for the controls of the calendar that opens. */
export function TimeField({ popoverProps, ...props }: TimeFieldProps) {
  const id = useId()
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
      {...props}
    />
  )
}
