import { Group, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface SectionProps {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of a page on a surface of its own. */
export function Section({ title, lead, actions, children }: SectionProps) {
  return (
    <Paper withBorder p="md" className="surface" component="section" aria-label={title}>
      <Group justify="space-between" align="baseline" mb="sm" gap="xs">
        {/* The actions stay beside it, unless the page is narrow. */}
        <div style={{ flex: '1 1 12rem', minWidth: 0 }}>
          <Title order={2} size="h4">
            {title}
          </Title>
          {lead && (
            <Text size="sm" c="dimmed">
              {lead}
            </Text>
          )}
        </div>
        {actions}
      </Group>
      {children}
    </Paper>
  )
}
