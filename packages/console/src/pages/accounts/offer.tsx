import { Alert, Button, Checkbox, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../session/session.ts'
import { describeError, showDone } from '../../shared/errors.ts'
import { PLATFORMS } from '../../shared/platforms.tsx'
import { QueryView } from '../../shared/states.tsx'

/** The further pages, blogs or profiles of a login that has just ended. The service keeps the offer for ten minutes. */
export function Offer({ id, close }: { id: string; close: () => void }) {
  const path = { offerId: id }
  const queries = useQueryClient()
  const offer = useQuery({
    queryKey: ['offers', id],
    queryFn: () => client.request('GET', '/api/platform/offers/{offerId}', { path }),
  })
  const [chosen, setChosen] = useState<string[]>([])
  const adding = useMutation({
    mutationFn: () => client.request('POST', '/api/platform/offers/{offerId}', { path, body: { platformIds: chosen } }),
    onSuccess: async (added) => {
      await queries.invalidateQueries({ queryKey: ['accounts'] })
      showDone(added.length === 1 ? 'The account is connected.' : 'The accounts are connected.')
      close()
    },
  })
  return (
    <Paper withBorder p="md" className="surface">
      <QueryView query={offer}>
        {({ platform, accounts }) => (
          <Stack>
            <div>
              <Title order={2} size="h4">
                Your login on {PLATFORMS[platform].name} has several accounts
              </Title>
              <Text size="sm" c="dimmed">
                Choose the others that you want to publish on as well.
              </Text>
            </div>
            {adding.isError && <Alert color="red">{describeError(adding.error)}</Alert>}
            <Checkbox.Group value={chosen} onChange={setChosen}>
              <Stack gap="xs">
                {accounts.map(({ platformId, profile, connected, problem }) => (
                  <Checkbox
                    key={platformId}
                    value={platformId}
                    label={profile.displayName || profile.handle}
                    description={connected ? 'Connected' : (problem ?? profile.handle)}
                    disabled={connected || problem !== null}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
            <Group>
              <Button disabled={chosen.length === 0} loading={adding.isPending} onClick={() => adding.mutate()}>
                Connect {chosen.length > 0 ? chosen.length : ''}
              </Button>
              <Button variant="default" onClick={close}>
                Not now
              </Button>
            </Group>
          </Stack>
        )}
      </QueryView>
    </Paper>
  )
}
