import { Alert, Anchor, Badge, Button, FileInput, Group, NumberInput, Progress, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { FileUp } from 'lucide-react'
import { client, useUser } from '../../session/session.ts'
import { countOf } from '../../shared/counts.ts'
import { describeError } from '../../shared/errors.ts'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow } from '../../shared/times.ts'

type Import = components['schemas']['Import']

export const IMPORT_STATES: Record<Import['state'], { label: string; color: string }> = {
  planned: { label: 'Planned', color: 'gray' },
  applying: { label: 'In progress', color: 'cyan' },
  paused: { label: 'Paused', color: 'yellow' },
  completed: { label: 'Done', color: 'teal' },
  cancelled: { label: 'Cancelled', color: 'gray' },
}

/** How often an import is read again while it creates posts. */
const PROGRESS_MS = 2_000

export function ImportSettings() {
  const imports = useQuery({
    queryKey: ['imports'],
    queryFn: () => client.imports.list(),
    refetchInterval: ({ state }) => (state.data?.some(({ state: now }) => now === 'applying') ? PROGRESS_MS : false),
  })
  return (
    <Stack>
      <NewImport />
      <Section title="Imports" lead="An import is removed after 30 days; its posts stay.">
        <QueryView query={imports}>
          {(list) =>
            list.length === 0 ? (
              <Empty icon={FileUp} title="No imports yet">
                Upload a file with posts. You see what each row would do before anything is created.
              </Empty>
            ) : (
              <Stack component="ul" gap="sm" m={0} p={0}>
                {list.map((one) => (
                  <Group key={one.id} component="li" justify="space-between">
                    <Stack gap={0}>
                      <Anchor component={Link} to={`/settings/imports/${one.id}`}>
                        {countOf(one.rows, 'row')} of {one.format.toUpperCase()}
                      </Anchor>
                      <Text size="sm" c="dimmed">
                        {fromNow(one.createdAt)}
                      </Text>
                    </Stack>
                    <Group>
                      {one.state === 'applying' && (
                        <Progress
                          w={120}
                          value={(one.counts.created / Math.max(1, one.rows)) * 100}
                          aria-label="Progress"
                        />
                      )}
                      <Badge variant="light" color={IMPORT_STATES[one.state].color}>
                        {IMPORT_STATES[one.state].label}
                      </Badge>
                    </Group>
                  </Group>
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Section>
    </Stack>
  )
}

function NewImport() {
  const { timezone } = useUser()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm<{ file: File | null; gapMinutes: number }>({
    mode: 'controlled',
    initialValues: { file: null, gapMinutes: 5 },
  })
  const planning = useMutation({
    mutationFn: ({ file, gapMinutes }: { file: File; gapMinutes: number }) =>
      client.imports.plan(file, {
        contentType: file.name.toLowerCase().endsWith('.json') ? 'application/json' : 'text/csv',
        gapMinutes,
        timezone,
      }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['imports'] })
      await navigate({ to: '/settings/imports/$id', params: { id } })
    },
  })
  return (
    <Section title="New import" lead={`CSV or JSON. Times without a zone are in ${timezone}.`}>
      <form
        onSubmit={form.onSubmit(({ file, gapMinutes }) => {
          if (file !== null) planning.mutate({ file, gapMinutes })
        })}
      >
        <Stack>
          {planning.isError && <Alert color="red">{describeError(planning.error)}</Alert>}
          <Group align="flex-end">
            <FileInput
              label="File"
              placeholder="Choose a file"
              accept=".csv,.json,text/csv,application/json"
              leftSection={<FileUp size={16} aria-hidden />}
              clearable
              flex={1}
              miw={220}
              {...form.getInputProps('file')}
            />
            <NumberInput
              label="Minutes between posts"
              min={0}
              max={1440}
              w={180}
              {...form.getInputProps('gapMinutes')}
            />
            <Button type="submit" disabled={form.values.file === null} loading={planning.isPending}>
              Read the file
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
