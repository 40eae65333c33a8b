import { Button, Group } from '@mantine/core'

interface PageTurnerProps {
  page: number
  /** Whether the page is as long as pages can be, so that another one may follow. */
  isFull: boolean
  onPage: (page: number) => void
}

/** Goes through lists of the admin routes, whose totals the SDK leaves out. */
export function PageTurner({ page, isFull, onPage }: PageTurnerProps) {
  if (page === 1 && !isFull) return null
  return (
    <Group mt="sm" gap="xs">
      <Button size="xs" variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button size="xs" variant="default" disabled={!isFull} onClick={() => onPage(page + 1)}>
        Older
      </Button>
    </Group>
  )
}
