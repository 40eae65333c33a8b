import type Stripe from 'stripe'

/** Numbers that the package parses into its own objects are sent as text. */
export type Wire<T> = T extends Stripe.Decimal ? string : T extends object ? { [Key in keyof T]: Wire<T[Key]> } : T

export const CURRENCY = 'usd'
export const UNIT_AMOUNT = 1_200
export const SELF = { type: 'self' } as const

export function listOf<T extends object>(url: string, data: T[], hasMore = false) {
  return { object: 'list' as const, data, has_more: hasMore, url }
}
