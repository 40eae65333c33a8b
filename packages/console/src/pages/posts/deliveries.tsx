import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { ExternalLink } from 'lucide-react'
import { AccountName } from '../../shared/platforms.tsx'
import { usePostActions } from '../../shared/post-actions.tsx'
import { Section } from '../../shared/section.tsx'
import { DeliveryStatusBadge } from '../../shared/statuses.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'

type Post = components['schemas']['Post']
type Delivery = components['schemas']['PlatformStatus']

/** The state of the post on each account: its link, or why not and what happens next. */
export function Deliveries({ post }: { post: Post }) {
  return (
    <Section title="Accounts">
      <Stack component="ul" gap="md" m={0} p={0} style={{ listStyle: 'none' }}>
        {post.platformStatuses.map((delivery, index) => (
          <li key={`${delivery.accountId ?? delivery.platform}-${index}`}>
            <DeliveryView post={post} delivery={delivery} />
          </li>
        ))}
      </Stack>
    </Section>
  )
}

function DeliveryView({ post, delivery }: { post: Post; delivery: Delivery }) {
  const { platform, accountId, accountName, status, error, errorCode, warning, platformPostUrl, nextAttemptAt } =
    delivery
  const actions = usePostActions()
  const isWaiting = status === 'pending' && nextAttemptAt !== null
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <AccountName platform={platform} name={accountName} />
        <DeliveryStatusBadge status={status} />
      </Group>
      {error && (
        <Text size="sm" c={status === 'failed' ? 'red' : 'dimmed'} className="user-text">
          {error}
        </Text>
      )}
      {errorCode && NEXT_STEPS[errorCode] && status === 'failed' && (
        <Text size="sm">
          {NEXT_STEPS[errorCode].text}{' '}
          {NEXT_STEPS[errorCode].to && (
            <Anchor component={Link} to={NEXT_STEPS[errorCode].to} size="sm">
              {NEXT_STEPS[errorCode].label}
            </Anchor>
          )}
        </Text>
      )}
      {warning && <Text size="sm">{warning}</Text>}
      <NextAttempt delivery={delivery} />
      <Group gap="sm">
        {platformPostUrl && (
          <Anchor href={platformPostUrl} target="_blank" rel="noreferrer" size="sm">
            <Group gap={4} component="span">
              Open the post <ExternalLink size={13} aria-label="in a new tab" role="img" />
            </Group>
          </Anchor>
        )}
        {status === 'failed' && accountId && isCorrectable(errorCode) && (
          <Button size="compact-xs" onClick={() => void actions.duplicate(post, [accountId])}>
            Correct it for this account
          </Button>
        )}
        {status === 'failed' && accountId && (
          <Button
            size="compact-xs"
            variant="light"
            loading={actions.isPending}
            onClick={() => void actions.retry([post], [accountId])}
          >
            Send again here
          </Button>
        )}
        {isWaiting && accountId && (
          <Button
            size="compact-xs"
            variant="default"
            loading={actions.isPending}
            onClick={() => actions.cancel([post], [accountId])}
          >
            Stop waiting
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function NextAttempt({ delivery: { status, nextAttemptAt } }: { delivery: Delivery }) {
  const { dateTime } = useTimes()
  if (status !== 'pending' || nextAttemptAt === null) return null
  return (
    <Text size="sm" c="dimmed">
      Next attempt {fromNow(nextAttemptAt)}, at {dateTime(nextAttemptAt)}
    </Text>
  )
}

const CORRECTABLE: readonly string[] = ['validation', 'duplicate', 'MEDIA_UNAVAILABLE']

/** Whether the platform refused the content, so that sending the same again does not help. */
export const isCorrectable = (errorCode: string | null | undefined): boolean => CORRECTABLE.includes(errorCode ?? '')

type NextStep = { text: string; to?: '/accounts' | '/media'; label?: string }

/** The user's next step after a failed delivery, by its code. Other codes are explained by the error alone. */
const NEXT_STEPS: Partial<Record<components['schemas']['FailureCode'], NextStep>> = {
  unauthorized: {
    text: 'The login of this account has ended. Connect it again, then send the post again.',
    to: '/accounts',
    label: 'Accounts',
  },
  permission: {
    text: 'The account does not allow this. Connect it again with all permissions, then send the post again.',
    to: '/accounts',
    label: 'Accounts',
  },
  PLATFORM_NOT_CONNECTED: {
    text: 'Connect the account, then send the post again.',
    to: '/accounts',
    label: 'Accounts',
  },
  validation: { text: 'Change what the platform refused, and publish the corrected copy.' },
  duplicate: { text: 'The platform has this text already. Change the text, and publish the corrected copy.' },
  MEDIA_UNAVAILABLE: { text: 'Upload the file again, and publish the corrected copy.' },
  media_fetch_failed: { text: 'The platform could not load the file. Send the post again.' },
  OUTCOME_UNKNOWN: { text: 'Check the account first: if the post is not there, send it again.' },
  TOO_LATE: { text: 'The post was not sent, because its time was over. Send it again if it is still wanted.' },
  transient: { text: 'The platform had a problem. Send the post again later.' },
}
