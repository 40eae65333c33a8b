import { ActionIcon, Indicator } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bell } from 'lucide-react'
import { client } from '../session/session.ts'

/** Leads to the notifications, with the number of unread ones. */
export function NotificationBell() {
  const { data } = useQuery({
    queryKey: ['notifications', 'unread'],
    queryFn: () => client.request('GET', '/api/notifications', { query: { limit: 1 } }),
  })
  const unread = data?.unread ?? 0
  const label = unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`
  return (
    <Indicator label={unread > 99 ? '99+' : unread} size={16} offset={6} color="red" disabled={unread === 0}>
      <ActionIcon component={Link} to="/notifications" variant="subtle" color="gray" size="lg" aria-label={label}>
        <Bell size={19} aria-hidden />
      </ActionIcon>
    </Indicator>
  )
}
