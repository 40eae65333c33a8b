import { Tabs } from '@mantine/core'
import { Outlet, useLocation, useNavigate, type LinkProps } from '@tanstack/react-router'
import { Page } from './page.tsx'

interface TabbedPageProps {
  title: string
  /** The address of the page itself comes first. */
  tabs: readonly { to: LinkProps['to'] & string; label: string }[]
}

/** A page of several tabs, each with an address of its own. */
export function TabbedPage({ title, tabs }: TabbedPageProps) {
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const active = tabs.findLast(({ to }) => pathname.startsWith(to)) ?? tabs[0]!
  return (
    <Page title={title}>
      <Tabs value={active.to} onChange={(to) => void navigate({ to: to ?? active.to })}>
        <Tabs.List style={{ flexWrap: 'nowrap', overflowX: 'auto', overflowY: 'hidden' }}>
          {tabs.map(({ to, label }) => (
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
