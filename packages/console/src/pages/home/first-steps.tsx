import { Button, Paper, Stack, Text, Timeline, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Check, PenLine, Plug } from 'lucide-react'

/** The way to the first post on the first account. */
export function FirstSteps({ hasAccount, hasPost }: { hasAccount: boolean; hasPost: boolean }) {
  return (
    <Paper withBorder p="xl" className="surface" maw={640}>
      <Stack>
        <div>
          <Title order={2} size="h4">
            Two steps to your first post
          </Title>
          <Text c="dimmed">Write once, and postonce publishes it on every account, exactly once and on time.</Text>
        </div>
        <Timeline active={hasAccount ? (hasPost ? 2 : 1) : 0} bulletSize={32} lineWidth={2}>
          <Timeline.Item
            bullet={hasAccount ? <Check size={17} aria-hidden /> : <Plug size={17} aria-hidden />}
            title={hasAccount ? 'An account is connected' : 'Connect an account'}
          >
            {!hasAccount && (
              <Stack gap="xs" align="flex-start" mt={4}>
                <Text size="sm">Bluesky, Threads, Instagram, Facebook, Mastodon or Tumblr.</Text>
                <Button component={Link} to="/accounts">
                  Connect an account
                </Button>
              </Stack>
            )}
          </Timeline.Item>
          <Timeline.Item bullet={<PenLine size={17} aria-hidden />} title="Write your first post">
            <Stack gap="xs" align="flex-start" mt={4}>
              <Text size="sm">Publish it now, plan it for later, or keep it as a draft.</Text>
              <Button component={Link} to="/compose" variant={hasAccount ? 'filled' : 'default'} disabled={!hasAccount}>
                Write a post
              </Button>
            </Stack>
          </Timeline.Item>
        </Timeline>
      </Stack>
    </Paper>
  )
}
