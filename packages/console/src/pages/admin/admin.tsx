import { Tabs } from '@mantine/core'
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Page } from '../../shared/page.tsx'

const TABS = [
  { to: '/admin', label: 'Set-up' },
  { to: '/admin/queues', label: 'Queues' },
  { to: '/admin/users', label: 'Users' },
  { to: '/admin/dead-letters', label: 'Dead letters' },
  { to: '/admin/audit', label: 'Audit log' },
] as const

/** The pages of the operator, each with an address of its own. */
export function AdminPage() {
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const active = TABS.findLast(({ to }) => pathname.startsWith(to)) ?? TABS[0]
  return (
    <Page title="Administration">
      <Tabs value={active.to} onChange={(to) => void navigate({ to: to as (typeof TABS)[number]['to'] })}>
        <Tabs.List style={{ flexWrap: 'nowrap', overflowX: 'auto', overflowY: 'hidden' }}>
          {TABS.map(({ to, label }) => (
            <Tabs.Tab key={to} value={to} style={{ flex: 'none' }}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={active.to} pt="lg">
          <Outlet />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
