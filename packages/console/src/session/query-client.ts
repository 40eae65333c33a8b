import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'

/** Dispatched with the error of everything that failed. */
export const failures = new EventTarget()

export const reportFailure = (error: unknown) => failures.dispatchEvent(new CustomEvent('failure', { detail: error }))

/**
 * Keys begin with the resource: 'posts', 'accounts', 'groups', 'media', 'notifications', 'analytics', 'subscription', 'admin', ..
 * The client of the SDK retries by itself, so a failed query is shown immediately.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: reportFailure }),
  mutationCache: new MutationCache({ onError: reportFailure }),
  defaultOptions: { queries: { retry: false, staleTime: 10_000 } },
})
