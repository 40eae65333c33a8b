import mongoose, { type ClientSession, type Model } from 'mongoose'
import type { Platform } from '../../domain/shared/platforms.ts'
import type {
  AccountProfile,
  AccountVersion,
  ConnectedAccount,
  PlatformAccounts,
  RenewedConnection,
} from './platform-account-records.ts'

interface AccountVersionsDeps {
  model: Model<PlatformAccounts>
  now(): Date
}

interface WriteOptions {
  /** Further conditions on the document. */
  condition?: object
  session?: ClientSession | undefined
}

/**
 * Writes that apply only while the account still has the version of its secrets that they were made for. Each returns whether it
 * applied, so a late renewal or refusal never touches an account that was reconnected or disconnected meanwhile.
 */
export function createAccountVersions({ model, now }: AccountVersionsDeps) {
  async function update(
    { userId, platform, version }: AccountVersion,
    fields: Fields,
    { condition, session }: WriteOptions = {},
  ): Promise<boolean> {
    const { matchedCount } = await model.updateOne(
      { userId, [`${platform}.connected`]: true, [`${platform}.version`]: version, ...condition },
      { $set: prefixFields(platform, fields) },
      { ...(session && { session }) },
    )
    return matchedCount === 1
  }

  return {
    /** Saves renewed secrets, sealed for `version + 1`. */
    saveRenewed: (account: AccountVersion, renewed: RenewedConnection): Promise<boolean> =>
      update(account, {
        ...renewed,
        version: account.version + 1,
        health: { status: 'active', lastError: null, checkedAt: now() },
        refreshLease: null,
      }),

    saveProfile: (account: AccountVersion, profile: AccountProfile): Promise<boolean> =>
      update(account, {
        profile,
        handle: profile.handle,
        health: { status: 'active', lastError: null, checkedAt: now() },
      }),

    /** Marks a connection that the user has to renew by connecting again. Returns false also when it already has this status. */
    markBroken: (
      account: AccountVersion,
      { status, reason }: { status: 'expired' | 'error'; reason: string },
      session?: ClientSession,
    ): Promise<boolean> =>
      update(
        account,
        { health: { status, lastError: reason, checkedAt: now() }, refreshLease: null },
        { condition: { [`${account.platform}.health.status`]: mongoose.trusted({ $ne: status }) }, session },
      ),

    /**
     * Takes the lease for renewing the secrets of this version. Returns false while another lease or pause of the version runs, and
     * once the connection has expired: a process that read the account before that must not call the platform again.
     */
    takeLease: (account: AccountVersion, holder: string, until: Date): Promise<boolean> => {
      const { platform, version } = account
      const condition = {
        [`${platform}.health.status`]: mongoose.trusted({ $ne: 'expired' }),
        $or: [
          { [`${platform}.refreshLease`]: null },
          { [`${platform}.refreshLease.version`]: mongoose.trusted({ $ne: version }) },
          { [`${platform}.refreshLease.until`]: mongoose.trusted({ $lte: now() }) },
        ],
      }
      return update(account, { refreshLease: { version, holder, until } }, { condition })
    },

    /** Releases the lease after a renewal that could not be made. No process takes it again before `until`. */
    pauseLease: (account: AccountVersion, holder: string, until: Date): Promise<boolean> =>
      update(
        account,
        { refreshLease: { version: account.version, holder: null, until } },
        { condition: { [`${account.platform}.refreshLease.holder`]: holder } },
      ),
  }
}

type Fields = Partial<Omit<ConnectedAccount, 'connected' | 'accountId' | 'connectedAt'>>

function prefixFields(platform: Platform, fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${platform}.${name}`, value]))
}
