import { TabbedPage } from '../../shared/tabbed-page.tsx'

const TABS = [
  { to: '/settings', label: 'Profile' },
  { to: '/settings/slots', label: 'Slots' },
  { to: '/settings/notifications', label: 'Notifications' },
  { to: '/settings/security', label: 'Security' },
  { to: '/settings/keys', label: 'API keys' },
  { to: '/settings/webhooks', label: 'Webhooks' },
  { to: '/settings/imports', label: 'Imports' },
  { to: '/settings/data', label: 'Your data' },
] as const

export function SettingsPage() {
  return <TabbedPage title="Settings" tabs={TABS} />
}
