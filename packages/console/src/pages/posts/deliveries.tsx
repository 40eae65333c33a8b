import { Anchor, Box, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { NewTab } from '../../shared/new-tab.tsx'
import { AccountName } from '../../shared/platforms.tsx'
import { canTakeBack, usePostActions, type Delivery } from '../../shared/post-actions.tsx'
import { Section } from '../../shared/section.tsx'
import { DeliveryStatusBadge } from '../../shared/statuses.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'
import { askForEdit, LastEdit, useCanEdit } from './edit-published.tsx'
import { Parts } from './parts.tsx'
import { Removal } from './removal.tsx'

type Post = components['schemas']['Post']

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
  const { platform, accountName, status, error, errorCode, warning, platformPostUrl, parts, replacedBy } = delivery
  const isDeleted = status === 'deleted'
  const step = status === 'failed' && !replacedBy && errorCode && nextStepOf(delivery)
  // A part that failed has the same error.
  const isShownByPart = parts?.some((part) => part.error === error) ?? false
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Box miw={0} td={isDeleted ? 'line-through' : undefined} opacity={isDeleted ? 0.75 : 1}>
          <AccountName platform={platform} name={accountName} />
        </Box>
        <DeliveryStatusBadge status={status} />
      </Group>
      {error && !isShownByPart && (
        <Text size="sm" c={status === 'failed' ? 'red' : 'dimmed'} className="user-text">
          {error}
        </Text>
      )}
      {parts && <Parts delivery={delivery} />}
      {step && (
        <Text size="sm">
          {step.text}{' '}
          {step.to && (
            <Anchor component={Link} to={step.to} size="sm">
              {step.label}
            </Anchor>
          )}
        </Text>
      )}
      {status === 'failed' && replacedBy && (
        <Text size="sm">
          A copy replaces this post on this account.{' '}
          <Anchor component={Link} to={`/posts/${replacedBy}`} size="sm">
            Open the copy
          </Anchor>
        </Text>
      )}
      {warning && !parts && <Text size="sm">{warning}</Text>}
      <NextAttempt delivery={delivery} />
      <LastEdit delivery={delivery} />
      <Removal delivery={delivery} />
      <Group gap="sm">
        {platformPostUrl && !parts && !isDeleted && (
          <Anchor href={platformPostUrl} target="_blank" rel="noreferrer" size="sm">
            Open the post <NewTab />
          </Anchor>
        )}
        <DeliveryActions post={post} delivery={delivery} />
      </Group>
    </Stack>
  )
}

/** The actions for one account. */
function DeliveryActions({ post, delivery }: { post: Post; delivery: Delivery }) {
  const { accountId, status, errorCode, nextAttemptAt, parts, replacedBy } = delivery
  const actions = usePostActions()
  const canEdit = useCanEdit(post, delivery)
  if (accountId === null) return null
  const hasFailed = status === 'failed' || (parts?.some((part) => part.status === 'failed') ?? false)
  return (
    <>
      {status === 'failed' && !replacedBy && isCorrectable(errorCode) && !isPartlyPublished(delivery) && (
        <Button size="compact-xs" onClick={() => void actions.duplicate(post, [accountId])}>
          Correct it for this account
        </Button>
      )}
      {hasFailed && (
        <Button
          size="compact-xs"
          variant="light"
          loading={actions.isPending}
          onClick={() => void actions.retry([post], [accountId])}
        >
          {parts ? 'Retry' : 'Send again here'}
        </Button>
      )}
      {status === 'pending' && nextAttemptAt !== null && (
        <Button
          size="compact-xs"
          variant="default"
          loading={actions.isPending}
          onClick={() => actions.cancel([post], [accountId])}
        >
          Stop waiting
        </Button>
      )}
      {canEdit && (
        <Button size="compact-xs" variant="subtle" onClick={() => askForEdit(post, [delivery])}>
          Edit published
        </Button>
      )}
      {canTakeBack(delivery) && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="red"
          loading={actions.isPending}
          onClick={() => void actions.takeBack(post, [delivery])}
        >
          {delivery.removal ? 'Take back again' : 'Take back'}
        </Button>
      )}
    </>
  )
}

const isPartlyPublished = ({ parts = [] }: Delivery): boolean => parts.some(({ status }) => status === 'completed')

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

/** A corrected copy of a partly published thread would repeat what is published. */
const TAKE_BACK_FIRST: NextStep = { text: 'To change it, take back what is published first, then correct it.' }

const nextStepOf = (delivery: Delivery): NextStep | undefined =>
  isCorrectable(delivery.errorCode) && isPartlyPublished(delivery) ? TAKE_BACK_FIRST : NEXT_STEPS[delivery.errorCode!]

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
  SKIPPED: { text: 'You chose to skip the post if it is late. Duplicate it to publish it all the same.' },
  TOO_LATE: { text: 'The post was not sent, because its time was over. Send it again if it is still wanted.' },
  transient: { text: 'The platform had a problem. Send the post again later.' },
}
