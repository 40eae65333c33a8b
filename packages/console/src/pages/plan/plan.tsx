import { Badge, Button, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { Figure } from '../../shared/figure.tsx'
import { showDone, showError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { useTimes } from '../../shared/times.ts'

/** Read again, because not every change of a plan sends a notification. */
const CHANGES_MS = 5_000

type Status = components['schemas']['SubscriptionStatus']

export function PlanPage() {
  const subscription = useQuery({
    queryKey: ['subscription'],
    queryFn: () => client.request('GET', '/api/payments/status'),
    refetchInterval: CHANGES_MS,
  })
  return (
    <Page title="Plan" lead="What your plan allows, and what you have used.">
      <QueryView query={subscription}>
        {(status) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Plan status={status} />
            <Usage status={status} />
          </SimpleGrid>
        )}
      </QueryView>
    </Page>
  )
}

function Plan({ status: { plan, subscription } }: { status: Status }) {
  const queries = useQueryClient()
  const openPage = (path: '/api/payments/create-checkout' | '/api/payments/billing-portal') => async () =>
    location.assign((await client.request('POST', path)).url)
  const upgrading = useMutation({ mutationFn: openPage('/api/payments/create-checkout'), onError: showError })
  const managing = useMutation({ mutationFn: openPage('/api/payments/billing-portal'), onError: showError })
  const ending = useMutation({
    mutationFn: () => client.request('POST', '/api/payments/cancel'),
    onError: showError,
    onSuccess: () => showDone('Pro ends with the period that is paid.'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscription'] }),
  })
  const askToEnd = () =>
    askToConfirm({
      title: 'End Pro?',
      children: (
        <Text size="sm">It stays until the end of the period that is paid. Then the limits of Free apply.</Text>
      ),
      labels: { confirm: 'End Pro', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => ending.mutate(),
    })
  const { processorSubscriptionId, processorCustomerId, cancelAtPeriodEnd } = subscription
  return (
    <Section title={plan === 'pro' ? 'Pro' : 'Free'} actions={<Badge variant="light">Your plan</Badge>}>
      <Stack>
        <Text>
          <PlanText {...subscription} />
        </Text>
        <Group gap="xs">
          {processorSubscriptionId === null && (
            <Button loading={upgrading.isPending} onClick={() => upgrading.mutate()}>
              Change to Pro
            </Button>
          )}
          {processorCustomerId !== null && (
            <Button variant="default" loading={managing.isPending} onClick={() => managing.mutate()}>
              Cards and invoices
            </Button>
          )}
          {processorSubscriptionId !== null && !cancelAtPeriodEnd && (
            <Button variant="subtle" color="red" loading={ending.isPending} onClick={askToEnd}>
              End Pro
            </Button>
          )}
        </Group>
      </Stack>
    </Section>
  )
}

function PlanText({ plan, status, currentPeriodEnd, cancelAtPeriodEnd }: Status['subscription']) {
  const { date } = useTimes()
  if (plan === 'free') return status === 'cancelled' ? 'Pro has ended. You are on Free.' : 'You are on Free.'
  if (cancelAtPeriodEnd && currentPeriodEnd) return `Pro until ${date(currentPeriodEnd)}, then Free.`
  if (status === 'pastDue') return 'The last payment failed. Check your card under “Cards and invoices”.'
  return currentPeriodEnd ? `Renews on ${date(currentPeriodEnd)}.` : 'You are on Pro.'
}

function Usage({ status: { usage, limits } }: { status: Status }) {
  const rows = [
    { label: 'Posts this period', used: usage.postsCreated, limit: limits.maxPosts },
    { label: 'Captions this period', used: usage.captionGenerations, limit: limits.maxCaptionGenerations },
    { label: 'Connected accounts', used: usage.accounts, limit: limits.maxAccounts },
  ]
  return (
    <Section title="Usage">
      <Stack>
        {rows.map(({ label, used, limit }) => (
          <div key={label}>
            <Group justify="space-between" mb={4}>
              <Text size="sm">{label}</Text>
              <Text size="sm" c="dimmed">
                <Figure value={used} /> of <Figure value={limit} />
              </Text>
            </Group>
            <Progress.Root>
              <Progress.Section
                value={limit === 0 ? 100 : Math.min(100, (used / limit) * 100)}
                color={used >= limit ? 'red' : 'ink'}
                aria-label={label}
              />
            </Progress.Root>
          </div>
        ))}
      </Stack>
    </Section>
  )
}
