import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.layer.css'
import { Alert, Badge, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { DataTable } from '../../shared/data-table.tsx'
import { client } from '../../session/session.ts'
import { Figure } from '../../shared/figure.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'

const REFRESH_MS = 10_000
const HEIGHT = 220

/** The lengths of the queues, their workers, and how punctual deliveries were. */
export function QueuesPanel() {
  const queues = useQuery({
    queryKey: ['admin', 'queues'],
    queryFn: () => client.request('GET', '/api/admin/queues'),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Stack>
      <Punctuality />
      <QueryView query={queues}>
        {(state) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <Section title="Posts that are due and not started">
                <Text fz={24} fw={650}>
                  <Figure value={state.unstartedPosts} />
                </Text>
              </Section>
              <Section title="Dead letters">
                <Text fz={24} fw={650}>
                  <Figure value={state.deadLetters} />
                </Text>
              </Section>
            </SimpleGrid>
            <Waiting waiting={state.waiting} />
            <TaskQueues queues={state.taskQueues} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

function Punctuality() {
  const { time } = useTimes()
  const punctuality = useQuery({
    queryKey: ['admin', 'punctuality'],
    queryFn: () => client.request('GET', '/api/status/punctuality'),
    refetchInterval: 60_000,
  })
  return (
    <Section title="Punctuality" lead="Deliveries of the last day, by the hour in which they were due.">
      <QueryView query={punctuality}>
        {({ hours }) => (
          <BarChart
            h={HEIGHT}
            type="stacked"
            withLegend
            data={hours.map(({ hour, onTime, misses }) => ({ hour: time(hour), onTime, misses }))}
            dataKey="hour"
            series={[
              { name: 'onTime', label: 'On time', color: 'teal.6' },
              { name: 'misses', label: 'Late or failed', color: 'red.6' },
            ]}
          />
        )}
      </QueryView>
    </Section>
  )
}

function Waiting({ waiting }: { waiting: components['schemas']['WaitingDeliveries'][] }) {
  return (
    <Section title="Deliveries that are due and wait">
      {waiting.length === 0 ? (
        <Text c="dimmed" size="sm">
          None.
        </Text>
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Why</Table.Th>
              <Table.Th ta="right">Deliveries</Table.Th>
              <Table.Th ta="right">Oldest due</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {waiting.map(({ reason, deliveries, oldestDueAt }) => (
              <Table.Tr key={reason}>
                <Table.Td>{reason}</Table.Td>
                <Table.Td ta="right">
                  <Figure value={deliveries} />
                </Table.Td>
                <Table.Td ta="right">{fromNow(oldestDueAt)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}

function TaskQueues({ queues }: { queues: components['schemas']['TaskQueue'][] | null }) {
  return (
    <Section title="Task queues and workers">
      {queues === null ? (
        <Alert color="red">Temporal does not answer.</Alert>
      ) : (
        <DataTable head={['Queue', 'State', '>Waiting tasks', 'Workers']}>
          {queues.map(({ queue, kind, isServed, backlog, pollers }) => (
            <Table.Tr key={`${queue} ${kind}`}>
              <Table.Td>
                {queue}, {kind}
              </Table.Td>
              <Table.Td>
                <Badge variant="light" color={isServed ? 'teal' : 'red'}>
                  {isServed ? 'Served' : 'No worker'}
                </Badge>
              </Table.Td>
              <Table.Td ta="right">
                <Figure value={backlog} />
              </Table.Td>
              <Table.Td>{[...new Set(pollers.map(({ identity }) => identity))].join(', ')}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Section>
  )
}
