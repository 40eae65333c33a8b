import { Box, Center, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

/** The frame of the pages for visitors who are not signed in. */
export function AuthPage({ title, children, footer }: { title: string; children: ReactNode; footer?: ReactNode }) {
  useDocumentTitle(`${title} · postonce`)
  return (
    <Center component="main" mih="100dvh" p="md">
      <Box w="100%" maw={400}>
        <Group justify="center" gap={10} mb="lg">
          <img src="/icon.svg" alt="" width={34} height={34} />
          <Text fw={700} fz={24}>
            postonce
          </Text>
        </Group>
        <Paper withBorder p="xl" radius="lg" className="surface">
          <Stack>
            <Title order={1} size="h3">
              {title}
            </Title>
            {children}
          </Stack>
        </Paper>
        {footer && (
          <Text ta="center" size="sm" mt="md" c="dimmed">
            {footer}
          </Text>
        )}
      </Box>
    </Center>
  )
}
