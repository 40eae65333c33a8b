import { Divider, NavLink } from '@mantine/core'
import { Link, useLocation, type LinkProps } from '@tanstack/react-router'
import {
  CalendarDays,
  ChartNoAxesCombined,
  CreditCard,
  House,
  Images,
  ListChecks,
  Newspaper,
  Plug,
  Settings,
  Wrench,
  type LucideIcon,
} from 'lucide-react'
import { Fragment } from 'react'
import { useUser } from '../session/session.ts'

interface Entry {
  to: LinkProps['to']
  label: string
  icon: LucideIcon
}

/** The pages in their order, in groups. */
const GROUPS: Entry[][] = [
  [
    { to: '/', label: 'Home', icon: House },
    { to: '/calendar', label: 'Calendar', icon: CalendarDays },
    { to: '/posts', label: 'Posts', icon: Newspaper },
    { to: '/review', label: 'Review', icon: ListChecks },
    { to: '/media', label: 'Media', icon: Images },
    { to: '/analytics', label: 'Analytics', icon: ChartNoAxesCombined },
  ],
  [
    { to: '/accounts', label: 'Accounts', icon: Plug },
    { to: '/plan', label: 'Plan', icon: CreditCard },
    { to: '/settings', label: 'Settings', icon: Settings },
  ],
]
const FOR_ADMINS: Entry[] = [{ to: '/admin', label: 'Administration', icon: Wrench }]

export function Navigation() {
  const { role } = useUser()
  const { pathname } = useLocation()
  const groups = role === 'admin' ? [...GROUPS, FOR_ADMINS] : GROUPS
  return groups.map((entries, index) => (
    <Fragment key={entries[0]?.to}>
      {index > 0 && <Divider my="xs" />}
      {entries.map(({ to = '/', label, icon: Icon }) => {
        const isActive = to === '/' ? pathname === to : pathname === to || pathname.startsWith(`${to}/`)
        return (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            leftSection={<Icon size={18} aria-hidden />}
            active={isActive}
            aria-current={isActive ? 'page' : undefined}
            style={{ borderRadius: 'var(--mantine-radius-md)' }}
          />
        )
      })}
    </Fragment>
  ))
}
