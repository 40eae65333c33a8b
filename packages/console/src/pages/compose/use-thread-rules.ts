import { useQuery } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import type { ThreadRules } from './thread-rules.ts'

/** Reads how each platform publishes threads and first comments. Empty until it is known. */
export function useThreadRules(): ThreadRules {
  const { data } = useQuery({
    queryKey: ['limits'],
    queryFn: () => client.accounts.limits(),
    staleTime: Infinity,
  })
  return Object.fromEntries(Object.entries(data ?? {}).map(([platform, { thread }]) => [platform, thread]))
}
