import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../session/session.ts'
import { describeError, showDone } from '../../shared/errors.ts'
import type { Account } from '../../shared/platforms.tsx'

/** Opens the form that disconnects an account, with a choice for its waiting posts. */
export function askToDisconnect(account: Account, others: Account[]): void {
  const modalId = modals.open({
    title: `Disconnect ${account.profile.handle}?`,
    children: <DisconnectForm account={account} others={others} done={() => modals.close(modalId)} />,
  })
}

function DisconnectForm({ account, others, done }: { account: Account; others: Account[]; done: () => void }) {
  const queries = useQueryClient()
  const [movePostsTo, setTarget] = useState<string | null>(null)
  const leaving = useMutation({
    mutationFn: () => client.accounts.disconnect(account._id, movePostsTo === null ? {} : { movePostsTo }),
    onSuccess: async ({ waitingTotal, movedPosts }) => {
      await Promise.all(
        ['accounts', 'posts', 'groups', 'slots'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      )
      showDone(
        waitingTotal > 0
          ? `Disconnected. ${waitingTotal} waiting posts and drafts still name the account: connect it again, or edit them.`
          : movedPosts > 0
            ? `Disconnected. ${movedPosts} posts were moved.`
            : 'Disconnected.',
      )
      done()
    },
  })
  return (
    <Stack>
      {leaving.isError && <Alert color="red">{describeError(leaving.error)}</Alert>}
      <Text size="sm">
        postonce deletes its access to the account. What is published stays there; posts that still wait for the account
        fail unless you move them or connect it again.
      </Text>
      {others.length > 0 && (
        <Select
          label="Waiting posts and drafts"
          data={others.map(({ _id, profile, label }) => ({ value: _id, label: `Move to ${label ?? profile.handle}` }))}
          placeholder="Leave them as they are"
          value={movePostsTo}
          onChange={setTarget}
          clearable
        />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={done}>
          Back
        </Button>
        <Button color="red" loading={leaving.isPending} onClick={() => leaving.mutate()}>
          Disconnect
        </Button>
      </Group>
    </Stack>
  )
}
