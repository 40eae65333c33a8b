import { Avatar, Menu, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { LogOut, Moon, Sun, SunMoon } from 'lucide-react'
import { signOut, useUser } from '../session/session.ts'
import { showError } from '../shared/errors.ts'

const SCHEMES = [
  { value: 'auto', icon: SunMoon, label: 'As the system' },
  { value: 'light', icon: Sun, label: 'Light' },
  { value: 'dark', icon: Moon, label: 'Dark' },
] as const

export function UserMenu() {
  const { name, email, avatar } = useUser()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leaving = useMutation({ mutationFn: signOut, onError: showError })
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton aria-label={`Your account, ${name}`}>
          <Avatar src={avatar} name={name} color="ink" size={34} alt="" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" truncate>
            {email}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        <SegmentedControl
          fullWidth
          size="xs"
          mx="xs"
          mb="xs"
          value={colorScheme}
          onChange={setColorScheme}
          data={SCHEMES.map(({ value, icon: Icon, label }) => ({
            value,
            label: <Icon size={16} aria-label={label} role="img" />,
          }))}
        />
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => leaving.mutate()}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
