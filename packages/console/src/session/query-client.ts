import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'

/** Dispatched with the error of every query and mutation that failed. */
export const failures = new EventTarget()

const report = (error: unknown) => failures.dispatchEvent(new CustomEvent('failure', { detail: error }))

/**
 * Keys begin with the resource: 'posts', 'accounts', 'groups', 'media', 'notifications', 'analytics', 'subscription', 'admin', ..
 * The client of the SDK retries by itself, so a failed query is shown immediately.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: report }),
  mutationCache: new MutationCache({ onError: report }),
  defaultOptions: { queries: { retry: false, staleTime: 10_000 } },
})
