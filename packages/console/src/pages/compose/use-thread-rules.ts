import { useQuery } from '@tanstack/react-query'
import { PLATFORM_LIMITS } from '../../shared/platform-limits.ts'
import type { ThreadRules } from './thread-rules.ts'

/** Reads how each platform publishes threads and first comments. Empty until it is known. */
export function useThreadRules(): ThreadRules {
  const { data } = useQuery(PLATFORM_LIMITS)
  return Object.fromEntries(Object.entries(data ?? {}).map(([platform, { thread }]) => [platform, thread]))
}
