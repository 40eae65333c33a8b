import { queryOptions } from '@tanstack/react-query'
import { client } from '../session/session.ts'

/** The limits of each platform, and whether its posts can be removed and edited. */
export const PLATFORM_LIMITS = queryOptions({
  queryKey: ['limits'],
  queryFn: () => client.accounts.limits(),
  staleTime: Infinity,
})
