import { ActionIcon, Button, Group, Paper, Stack, Text, UnstyledButton } from '@mantine/core'
import { MobileMonthView, type ScheduleEventData } from '@mantine/schedule'
import dayjs from 'dayjs'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { CalendarEvent } from './calendar-event.tsx'
import { todayProps } from './calendar-events.ts'

interface PhoneCalendarProps {
  date: string
  today: string
  events: ScheduleEventData[]
  onDateChange: (date: string) => void
  onOpen: (event: ScheduleEventData) => void
  /** Called with the day to write a post for. */
  onWrite: (day: string) => void
}

/** A month of dots and the posts of its chosen day. */
export function PhoneCalendar({ date, today, events, onDateChange, onOpen, onWrite }: PhoneCalendarProps) {
  const step = (months: number) => () =>
    onDateChange(dayjs(date).startOf('month').add(months, 'month').format('YYYY-MM-DD'))
  return (
    <Stack gap="sm">
      <Paper withBorder className="surface">
        <MobileMonthView
          date={date}
          selectedDate={date}
          onSelectedDateChange={(day) => day && onDateChange(day)}
          events={events}
          onEventClick={onOpen}
          weekendDays={[]}
          highlightToday={false}
          // A button may not be "selected"; the list below names the chosen day.
          getDayProps={(day) => ({ 'aria-selected': undefined, ...todayProps(day === today) })}
          labels={{ noEvents: 'No posts on this day' }}
          renderHeader={() => (
            <Group justify="space-between" w="100%" wrap="nowrap">
              <ActionIcon variant="default" size="lg" aria-label="Previous month" onClick={step(-1)}>
                <ChevronLeft size={18} aria-hidden />
              </ActionIcon>
              <Text fw={600}>{dayjs(date).format('MMMM YYYY')}</Text>
              <Group gap="xs" wrap="nowrap">
                <Button variant="default" size="xs" onClick={() => onDateChange(today)}>
                  Today
                </Button>
                <ActionIcon variant="default" size="lg" aria-label="Next month" onClick={step(1)}>
                  <ChevronRight size={18} aria-hidden />
                </ActionIcon>
              </Group>
            </Group>
          )}
          renderEvent={(event, props) => (
            <UnstyledButton {...props} py="sm">
              <CalendarEvent event={event} size="sm" />
            </UnstyledButton>
          )}
        />
      </Paper>
      {date >= today && (
        <Button variant="light" onClick={() => onWrite(date)}>
          Write a post for this day
        </Button>
      )}
    </Stack>
  )
}
