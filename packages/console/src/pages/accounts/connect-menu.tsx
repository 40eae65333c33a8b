import { Button, Menu, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { showError } from '../../shared/errors.ts'
import { PLATFORMS, PlatformMark, type Account, type Platform } from '../../shared/platforms.tsx'
import { openLogin, type LoginPlatform } from './connect.ts'
import { askForBluesky } from './bluesky-form.tsx'
import { askForMastodon } from './mastodon-form.tsx'

const HINTS: Partial<Record<Platform, string>> = {
  facebook: 'Pages, with their Instagram accounts',
  mastodon: 'On any server',
  bluesky: 'With an app password',
}

/** The platforms to connect, each with its way of logging in. */
export function ConnectMenu({ accounts }: { accounts: Account[] }) {
  const opening = useMutation({ mutationFn: (platform: LoginPlatform) => openLogin(platform), onError: showError })
  const connect = (platform: Platform) => {
    if (platform === 'bluesky') askForBluesky()
    else if (platform === 'mastodon') askForMastodon()
    else opening.mutate(platform === 'instagram' ? 'facebook' : platform)
  }
  return (
    <Menu position="bottom-end" width={270}>
      <Menu.Target>
        <Button
          leftSection={<Plus size={16} aria-hidden />}
          loading={opening.isPending}
          variant={accounts.length === 0 ? 'filled' : 'default'}
        >
          Connect an account
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(PLATFORMS) as Platform[]).map((platform) => (
          <Menu.Item
            key={platform}
            leftSection={<PlatformMark platform={platform} size={24} />}
            onClick={() => connect(platform)}
          >
            <Text size="sm">{PLATFORMS[platform].name}</Text>
            <Text size="xs" c="dimmed">
              {platform === 'instagram' ? 'With the Facebook page it belongs to' : HINTS[platform]}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
