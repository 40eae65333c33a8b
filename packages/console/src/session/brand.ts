import { useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client, useUser } from './session.ts'

/** A brand is a group of accounts. */
export type Brand = components['schemas']['Group']

/** The brand that lists, calendar, analytics and composer follow; null means all accounts. */
export function useBrand() {
  const { _id } = useUser()
  const [chosen, choose] = useLocalStorage<string | null>({
    key: `postonce.brand.${_id}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  })
  const { data: brands = [] } = useQuery({ queryKey: ['groups'], queryFn: () => client.groups.list() })
  return { brand: brands.find(({ id }) => id === chosen) ?? null, brands, choose }
}

/** Returns the filter of lists and analytics: an account that was chosen, else the brand. */
export function useAccountFilter(account?: string): { accounts?: string[]; group?: string[] } {
  const { brand } = useBrand()
  if (account) return { accounts: [account] }
  return brand === null ? {} : { group: [brand.id] }
}
