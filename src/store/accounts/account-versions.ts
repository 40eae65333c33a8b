import mongoose, { type ClientSession, type Model } from 'mongoose'
import type { Account, AccountFields, AccountProfile, AccountVersion, RenewedConnection } from './account-records.ts'

interface BrokenConnection {
  status: 'expired' | 'error'
  reason: string
  isLeaseRespected?: boolean
}

interface AccountVersionsDeps {
  model: Model<Account>
  now(): Date
}

/**
 * Writes that apply only while the account still has the version of its secrets that they were made for. Each returns whether it
 * applied, so a late renewal or refusal never touches an account that was reconnected or disconnected meanwhile.
 */
export function createAccountVersions({ model, now }: AccountVersionsDeps) {
  async function update(
    { userId, platform, version }: AccountVersion,
    fields: AccountFields,
    { condition, session }: { condition?: Record<string, unknown>; session?: ClientSession | undefined } = {},
  ): Promise<boolean> {
    const { matchedCount } = await model.updateOne(
      { userId, platform, version, connected: true, ...condition },
      { $set: fields },
      { ...(session && { session }) },
    )
    return matchedCount === 1
  }

  return {
    /**
     * Saves renewed secrets, sealed for the new version.
     * @throws a duplicate key error when another account has got that version meanwhile
     */
    saveRenewed: (account: AccountVersion, renewed: RenewedConnection, version: number): Promise<boolean> =>
      update(account, {
        ...renewed,
        version,
        health: { status: 'active', lastError: null, checkedAt: now() },
        refreshLease: null,
      }),

    saveProfile: (account: AccountVersion, profile: AccountProfile): Promise<boolean> =>
      update(account, {
        profile,
        handle: profile.handle,
        health: { status: 'active', lastError: null, checkedAt: now() },
      }),

    /**
     * Marks a connection that the user has to renew by connecting again. Returns false also when it already has this status, and with
     * `isLeaseRespected` while its secrets are being renewed.
     */
    markBroken: (
      account: AccountVersion,
      { status, reason, isLeaseRespected = false }: BrokenConnection,
      session?: ClientSession,
    ): Promise<boolean> =>
      update(
        account,
        { health: { status, lastError: reason, checkedAt: now() }, refreshLease: null },
        {
          condition: {
            'health.status': mongoose.trusted({ $ne: status }),
            ...(isLeaseRespected && isNotLeased(account, now())),
          },
          session,
        },
      ),

    /**
     * Takes the lease for renewing the secrets of this version. Returns false while another lease or pause of the version runs, and
     * once the connection has expired: a process that read the account before that must not call the platform again.
     */
    takeLease: (account: AccountVersion, holder: string, until: Date): Promise<boolean> => {
      const { version } = account
      const condition = {
        'health.status': mongoose.trusted({ $ne: 'expired' }),
        ...isNotLeased(account, now()),
      }
      return update(account, { refreshLease: { version, holder, until } }, { condition })
    },

    /** Releases the lease after a renewal that could not be made. No process takes it again before `until`. */
    pauseRenewal: (account: AccountVersion, holder: string, until: Date): Promise<boolean> =>
      update(
        account,
        { refreshLease: { version: account.version, holder: null, until } },
        { condition: { 'refreshLease.holder': holder } },
      ),
  }
}

function isNotLeased({ version }: AccountVersion, now: Date) {
  return {
    $or: [
      { refreshLease: null },
      { 'refreshLease.version': mongoose.trusted({ $ne: version }) },
      { 'refreshLease.until': mongoose.trusted({ $lte: now }) },
    ],
  }
}
