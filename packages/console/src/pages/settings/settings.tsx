import { Tabs } from '@mantine/core'
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Page } from '../../shared/page.tsx'

const TABS = [
  { to: '/settings', label: 'Profile' },
  { to: '/settings/notifications', label: 'Notifications' },
  { to: '/settings/security', label: 'Security' },
  { to: '/settings/keys', label: 'API keys' },
  { to: '/settings/webhooks', label: 'Webhooks' },
  { to: '/settings/imports', label: 'Imports' },
  { to: '/settings/data', label: 'Your data' },
] as const

/** The tabs of the settings, each with an address of its own. */
export function SettingsPage() {
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const active = TABS.findLast(({ to }) => pathname.startsWith(to)) ?? TABS[0]
  return (
    <Page title="Settings">
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
