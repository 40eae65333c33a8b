import type { OfferedId } from '../../../src/domain/accounts/platform-connect.ts'

/** Chooses as for a user without connected accounts. */
export const chooseFirst = ([first]: readonly OfferedId[]): string | null => first?.accountId ?? null
