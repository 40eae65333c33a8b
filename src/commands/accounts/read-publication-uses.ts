import { describeUse, type PublicationUse } from '../../domain/quotas/publications.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { findPublicationQuota } from './publication-quota.ts'
import type { CommandContext } from '../context.ts'

/**
 * Returns what accounts have used of their publication quotas, by platform.
 * @param accounts of those on one platform, the last counts
 */
export async function readPublicationUses(
  deps: CommandContext,
  accounts: readonly ConnectedAccount[],
): Promise<Map<Platform, PublicationUse[]>> {
  const quotas = new Map(accounts.map((account) => [account.platform, findPublicationQuota(deps, account)]))
  const known = [...quotas].flatMap(([platform, quota]) => (quota ? [{ platform, ...quota }] : []))
  if (known.length === 0) return new Map()
  const states = await deps.publicationLedger.read(known.map(({ key }) => key))
  return new Map(
    known.map(({ platform, key, limits }) => {
      const { record, now } = states.get(key)!
      return [platform, describeUse(record, limits, now)]
    }),
  )
}
