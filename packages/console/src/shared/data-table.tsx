import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

interface DataTableProps {
  /** The names of the columns. Those that begin with `>` are of numbers, at the right. */
  head: string[]
  minWidth?: number
  /** The rows. */
  children: ReactNode
}

/** A table that scrolls sideways on a narrow page. */
export function DataTable({ head, minWidth = 560, children }: DataTableProps) {
  return (
    <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing="xs" horizontalSpacing={8}>
        <Table.Thead>
          <Table.Tr>
            {head.map((name) => (
              <Table.Th key={name} {...(name.startsWith('>') && { ta: 'right' })}>
                {name.replace(/^>/, '')}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
