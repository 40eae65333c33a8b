import { Alert, Button, Center, Group, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { CircleAlert, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { describeError } from './errors.ts'

/** Renders the data of a query, or that it is loading or failed. Data that was read before stays while it is read again. */
export function QueryView<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>
  children: (data: T) => ReactNode
}): ReactNode {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && <Failure error={query.error} retry={() => void query.refetch()} />}
        {children(query.data)}
      </>
    )
  }
  return query.isError ? <Failure error={query.error} retry={() => void query.refetch()} /> : <Loading />
}

export function Loading({ label = 'Loading' }: { label?: string }) {
  return (
    <Center mih={160} role="status" aria-label={label}>
      <Loader type="dots" />
    </Center>
  )
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <Alert color="red" icon={<CircleAlert />} title="This could not be loaded" my="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{describeError(error)}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

interface EmptyProps {
  icon: LucideIcon
  title: string
  /** A sentence with the next step. */
  children: ReactNode
  action?: ReactNode
}

/** Says why a list has nothing, and what to do. */
export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <ThemeIcon size={56} radius="xl" variant="light">
        <Icon size={26} aria-hidden />
      </ThemeIcon>
      <Title order={2} size="h4" mt="xs">
        {title}
      </Title>
      <Text c="dimmed" maw={420}>
        {children}
      </Text>
      {action && <Group mt="sm">{action}</Group>}
    </Stack>
  )
}
