import { queryOptions } from '@tanstack/react-query'
import { client } from '../session/session.ts'

/** What each platform accepts, and whether it removes posts. */
export const PLATFORM_LIMITS = queryOptions({
  queryKey: ['limits'],
  queryFn: () => client.accounts.limits(),
  staleTime: Infinity,
})
