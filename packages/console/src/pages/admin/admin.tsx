import { TabbedPage } from '../../shared/tabbed-page.tsx'

const TABS = [
  { to: '/admin', label: 'Set-up' },
  { to: '/admin/queues', label: 'Queues' },
  { to: '/admin/users', label: 'Users' },
  { to: '/admin/dead-letters', label: 'Dead letters' },
  { to: '/admin/audit', label: 'Audit log' },
] as const

export function AdminPage() {
  return <TabbedPage title="Administration" tabs={TABS} />
}
