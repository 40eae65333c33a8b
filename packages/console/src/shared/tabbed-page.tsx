import { ScrollArea, Tabs } from '@mantine/core'
import { Outlet, useLocation, useNavigate, type LinkProps } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
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
  const list = useRef<HTMLDivElement>(null)
  // The row of tabs is wider than a phone.
  useEffect(() => {
    list.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <Page title={title}>
      <Tabs value={active.to} onChange={(to) => void navigate({ to: to ?? active.to })}>
        <ScrollArea type="never">
          <Tabs.List ref={list} miw="max-content" style={{ flexWrap: 'nowrap' }}>
            {tabs.map(({ to, label }) => (
              <Tabs.Tab key={to} value={to} style={{ flex: 'none' }}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </ScrollArea>
        <Tabs.Panel value={active.to} pt="lg">
          <Outlet />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
