import { AppShell, Box, Burger, Button, Group, ScrollArea, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { PenLine } from 'lucide-react'
import { useEffect } from 'react'
import { useLiveUpdates } from '../session/live.ts'
import { BrandSwitch } from './brand-switch.tsx'
import { LogInAgain } from './log-in-again.tsx'
import { Navigation } from './navigation.tsx'
import { NotificationBell } from './notification-bell.tsx'
import { UserMenu } from './user-menu.tsx'

/** The header and the navigation around every page of a signed-in user. */
export function Layout() {
  useLiveUpdates()
  const [isOpen, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  useEffect(close, [pathname, close])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <AppShell.Header className="surface">
        <Group h="100%" px="md" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <UnstyledButton component={Link} to="/">
              <Group gap={8} wrap="nowrap">
                <img src="/icon.svg" alt="" width={26} height={26} />
                <Text fw={700} fz="lg" visibleFrom="xs">
                  postonce
                </Text>
                <VisuallyHidden hiddenFrom="xs">postonce</VisuallyHidden>
              </Group>
            </UnstyledButton>
          </Group>
          <Box visibleFrom="sm">
            <BrandSwitch />
          </Box>
          <Group gap="xs" wrap="nowrap">
            <Button component={Link} to="/compose" leftSection={<PenLine size={16} aria-hidden />} visibleFrom="xs">
              New post
            </Button>
            <Button component={Link} to="/compose" px="xs" hiddenFrom="xs" aria-label="New post">
              <PenLine size={18} aria-hidden />
            </Button>
            <NotificationBell />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className="surface" aria-label="Pages">
        <AppShell.Section hiddenFrom="sm" pb="sm">
          <BrandSwitch />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
      <LogInAgain />
    </AppShell>
  )
}
