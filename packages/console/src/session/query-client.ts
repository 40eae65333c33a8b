import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query'

// A started mutation disables its button before the second click of a double click, which a timer would come after.
notifyManager.setScheduler(queueMicrotask)

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
  defaultOptions: {
    // Without a network, requests fail and say so. By default they would wait for it, as if they were on their way.
    queries: { retry: false, staleTime: 10_000, networkMode: 'always', refetchOnReconnect: true },
    mutations: { networkMode: 'always' },
  },
})
