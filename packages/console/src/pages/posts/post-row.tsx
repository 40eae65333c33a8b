import { ActionIcon, Anchor, Box, Checkbox, Group, Image, Paper, Stack, Text, Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import { PLATFORMS, PlatformMark } from '../../shared/platforms.tsx'
import { ALLOWED, type ListedPost } from '../../shared/post-actions.tsx'
import { PostTime } from '../../shared/post-time.tsx'
import { DELIVERY_STATUSES, PostStatusBadge } from '../../shared/statuses.tsx'

interface PostRowProps {
  post: ListedPost
  isSelected: boolean
  onSelect: (isSelected: boolean) => void
}

/** Who wrote a post, where it was not a person in the console. */
export const CLIENTS: Record<Exclude<ListedPost['metadata']['client'], 'console'>, string> = {
  cli: 'from the command line',
  mcp: 'from an agent',
  sdk: 'from a program',
  import: 'from an import',
  api: 'from the API',
}

/** A post of a list: a box to select it, its text, where it goes and its status. */
export function PostRow({ post, isSelected, onSelect }: PostRowProps) {
  const { _id, content, platformStatuses, status, metadata } = post
  const title = content.text.trim() || 'Without text'
  const picture = content.mediaItems.find(({ mimeType }) => mimeType.startsWith('image/'))
  return (
    <Paper withBorder p="sm" className="surface" component="li">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Checkbox
          mt={3}
          checked={isSelected}
          onChange={({ currentTarget }) => onSelect(currentTarget.checked)}
          aria-label={`Select: ${title.slice(0, 60)}`}
        />
        {picture && <Image src={picture.storageUrl} alt="" w={52} h={52} radius="sm" fit="cover" loading="lazy" />}
        <Stack gap={6} flex={1} miw={0}>
          <Anchor component={Link} to={`/posts/${_id}`} c="inherit" fw={500} lineClamp={2} className="user-text">
            {title}
          </Anchor>
          <Group gap="xs">
            <PostStatusBadge status={status} />
            <PostTime post={post} />
            {metadata.client !== 'console' && (
              <Text size="sm" c="dimmed">
                {CLIENTS[metadata.client]}
              </Text>
            )}
            <Group gap={4} component="ul" m={0} p={0} aria-label="Accounts">
              {platformStatuses.map((entry, index) => {
                const { platform, accountName } = entry
                const label = `${PLATFORMS[platform].name}${accountName ? ` ${accountName}` : ''}: ${DELIVERY_STATUSES[entry.status].label}`
                return (
                  <Tooltip key={`${entry.accountId ?? platform}-${index}`} label={label}>
                    <Box component="li" display="block" aria-label={label} role="listitem">
                      <PlatformMark platform={platform} size={18} />
                    </Box>
                  </Tooltip>
                )
              })}
            </Group>
          </Group>
        </Stack>
        {ALLOWED.edit.includes(status) && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Edit: ${title.slice(0, 60)}`}
            renderRoot={(props) => <Link to="/compose" search={{ id: _id }} {...props} />}
          >
            <Pencil size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
    </Paper>
  )
}
