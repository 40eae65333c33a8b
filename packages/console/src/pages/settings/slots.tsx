import { Button, Chip, Group, Select, Stack, Table, Text } from '@mantine/core'
import { TimeInput } from '@mantine/dates'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { useBrand } from '../../session/brand.ts'
import { client, useUser } from '../../session/session.ts'
import { nameAccount, useAccounts } from '../../shared/accounts.ts'
import { countOf } from '../../shared/counts.ts'
import { showDone, showError } from '../../shared/errors.ts'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { listTimezones } from '../../shared/timezones.ts'

type Plan = components['schemas']['SlotPlan']
type SlotTime = components['schemas']['SlotTime']
type Slots = components['schemas']['Slots']

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
/** Monday, 1 January 2024. */
const MONDAY = Date.UTC(2024, 0, 1)
const mean = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const shortDay = new Intl.DateTimeFormat(undefined, { weekday: 'short', timeZone: 'UTC' })
const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', timeZone: 'UTC' })
const toDate = (day: SlotTime['day']) => new Date(MONDAY + DAYS.indexOf(day) * 86_400_000)

const targetOf = ({ accountId, groupId }: Pick<Plan, 'accountId' | 'groupId'>) => accountId ?? groupId

/** The weekly times of accounts and brands, which posts take in turn. */
export function SlotSettings() {
  const slots = useQuery({ queryKey: ['slots'], queryFn: () => client.slots.get() })
  const accounts = useAccounts()
  const { brands } = useBrand()
  return (
    <QueryView query={slots}>
      {(stored) => (
        <QueryView query={accounts}>
          {(connected) => {
            const targets = [
              ...brands.map(({ id, name }) => ({ target: { groupId: id }, name: `Brand ${name}` })),
              ...connected.map((account) => ({ target: { accountId: account._id }, name: nameAccount(account) })),
            ]
            return (
              <Stack gap="lg">
                <Text c="dimmed">
                  A post for the “next slot” takes the next of these times that no other post of the account has.
                </Text>
                {targets.length === 0 && <Text>Connect an account to give it slots.</Text>}
                {targets.map((one) => (
                  <PlanSection key={targetOf(one.target)} {...one} stored={stored} />
                ))}
              </Stack>
            )
          }}
        </QueryView>
      )}
    </QueryView>
  )
}

interface PlanSectionProps {
  target: Pick<Plan, 'accountId' | 'groupId'>
  name: string
  stored: Slots
}

function PlanSection({ target, name, stored }: PlanSectionProps) {
  const user = useUser()
  const saving = useSaving(stored)
  const plan = stored.slots.find((one) => targetOf(one) === targetOf(target))
  const { timezone = user.timezone, times = [] } = plan ?? {}
  const save = (change: Partial<Plan>) => saving.mutate({ ...target, timezone, times, ...change })
  return (
    <Section title={name}>
      <Stack gap="sm">
        {times.length > 0 && (
          <Table aria-label={`Slots of ${name}`} layout="fixed">
            <Table.Tbody>
              {DAYS.filter((day) => times.some((one) => one.day === day)).map((day) => (
                <Table.Tr key={day}>
                  <Table.Th w="8rem">{longDay.format(toDate(day))}</Table.Th>
                  <Table.Td>
                    <Group gap="xs">
                      {times
                        .filter((one) => one.day === day)
                        .map((one) => (
                          <Button
                            key={one.time}
                            size="compact-sm"
                            variant="light"
                            rightSection={<X size={14} aria-hidden />}
                            aria-label={`Remove ${longDay.format(toDate(day))} ${one.time}`}
                            disabled={saving.isPending}
                            onClick={() => save({ times: times.filter((other) => other !== one) })}
                          >
                            {one.time}
                          </Button>
                        ))}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        <AddTimes name={name} isSaving={saving.isPending} onAdd={(added) => save({ times: [...times, ...added] })} />
        {/* The hours of analytics are those of the user's zone. */}
        {timezone === user.timezone && (
          <Proposals
            target={target}
            name={name}
            isKnown={({ day, time }) => times.some((one) => one.day === day && one.time === time)}
            isSaving={saving.isPending}
            onAdd={(time) => save({ times: [...times, time] })}
          />
        )}
        {times.length > 0 && (
          <Select
            label="Timezone"
            data={listTimezones(timezone)}
            searchable
            allowDeselect={false}
            limit={100}
            maw="20rem"
            value={timezone}
            disabled={saving.isPending}
            onChange={(zone) => zone && save({ timezone: zone })}
          />
        )}
      </Stack>
    </Section>
  )
}

interface ProposalsProps {
  target: PlanSectionProps['target']
  name: string
  isKnown: (time: SlotTime) => boolean
  isSaving: boolean
  onAdd: (time: SlotTime) => void
}

/** The three best hours of the last weeks, with the posts that show it. */
function Proposals({ target: { accountId, groupId }, name, isKnown, isSaving, onAdd }: ProposalsProps) {
  const [isAsked, setAsked] = useState(false)
  const query = {
    period: '30d' as const,
    ...(accountId && { accounts: [accountId] }),
    ...(groupId && { group: [groupId] }),
  }
  const heatmap = useQuery({
    queryKey: ['analytics', 'heatmap', query],
    queryFn: () => client.analytics.heatmap(query),
    enabled: isAsked,
  })
  if (!isAsked)
    return (
      <div>
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={`Best times so far of ${name}`}
          onClick={() => setAsked(true)}
        >
          Best times so far
        </Button>
      </div>
    )
  return (
    <QueryView query={heatmap}>
      {(hours) => {
        const best = hours.filter(({ rank }) => rank !== undefined).toSorted((one, other) => one.rank! - other.rank!)
        if (best.length === 0)
          return (
            <Text size="sm" c="dimmed" role="status">
              The last 30 days have too few posts. At least three in the same hour of the week are compared.
            </Text>
          )
        return (
          <Stack gap="xs" component="ul" m={0} p={0} aria-label={`Best times of ${name}`}>
            {best.map(({ day, hour, value, postCount }) => {
              // Day 0 of the API is a Sunday.
              const time = { day: DAYS[(day + 6) % 7]!, time: `${String(hour).padStart(2, '0')}:00` }
              const label = `${longDay.format(toDate(time.day))} ${time.time}`
              return (
                <Group key={label} component="li" gap="sm">
                  <Text size="sm">
                    {label}: {mean.format(value ?? 0)} engagement on average of {countOf(postCount, 'post')}
                  </Text>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`${isKnown(time) ? 'Added' : 'Add'} ${label} to ${name}`}
                    disabled={isKnown(time) || isSaving}
                    onClick={() => onAdd(time)}
                  >
                    {isKnown(time) ? 'Added' : 'Add'}
                  </Button>
                </Group>
              )
            })}
          </Stack>
        )
      }}
    </QueryView>
  )
}

/** Adds one time on several days. */
function AddTimes({ name, isSaving, onAdd }: { name: string; isSaving: boolean; onAdd: (times: SlotTime[]) => void }) {
  const [days, setDays] = useState<string[]>([])
  const [time, setTime] = useState('')
  const isComplete = days.length > 0 && time !== ''
  return (
    <Group gap="sm">
      <Chip.Group multiple value={days} onChange={setDays}>
        <Group gap={4} role="group" aria-label={`Days of a new slot of ${name}`}>
          {DAYS.map((day) => (
            <Chip key={day} value={day} size="xs" aria-label={longDay.format(toDate(day))}>
              {shortDay.format(toDate(day))}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <TimeInput
        aria-label={`Time of a new slot of ${name}`}
        value={time}
        onChange={(event) => setTime(event.currentTarget.value)}
      />
      <Button
        variant="default"
        leftSection={<Plus size={16} aria-hidden />}
        aria-label={`Add slots to ${name}`}
        disabled={!isComplete}
        loading={isSaving}
        onClick={() => {
          onAdd(days.map((day) => ({ day: day as SlotTime['day'], time })))
          setDays([])
          setTime('')
        }}
      >
        Add
      </Button>
    </Group>
  )
}

/** Replaces the slots of an account or a brand among those of all. */
function useSaving({ slots, etag }: Slots) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (plan: Plan) => {
      const others = slots.filter((one) => targetOf(one) !== targetOf(plan))
      return client.slots.replace({ slots: plan.times.length === 0 ? others : [...others, plan] }, { ifMatch: etag })
    },
    onSuccess: (stored) => {
      queries.setQueryData(['slots'], stored)
      showDone('Saved.')
    },
    onError: showError,
    onSettled: () =>
      Promise.all([['slots'], ['posts', 'slots']].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
}
