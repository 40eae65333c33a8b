import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, Credentials, Profile } from '../contract.ts'
import { readIssuedToken } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { requireVisibleAccount } from '../shared/graph/errors.ts'
import { fetchInstagramProfile } from '../shared/graph/instagram-profile.ts'

interface AccountDeps {
  api: GraphApi
  appId: string
  appSecret: string
}

/** Reads a professional account with the user token of the Facebook login that it is linked through. */
export function createAccounts({ api, appId, appSecret }: AccountDeps) {
  return {
    profile: ({ accountId, accessToken }: Credentials, options: CallOptions): Promise<Profile> =>
      requireVisibleAccount(api.label, fetchInstagramProfile(api, accountId, { ...options, token: accessToken })),

    /** Exchanging a token may extend its lifetime or keep it; the response does not say which. */
    async renew({ version: _, ...account }: Credentials, options: CallOptions): Promise<Omit<Credentials, 'version'>> {
      const { access_token: accessToken, expires_in: seconds } = await api.post(
        '/oauth/access_token',
        {
          grant_type: 'fb_exchange_token',
          client_id: appId,
          client_secret: appSecret,
          fb_exchange_token: account.accessToken,
        },
        readIssuedToken,
        options,
      )
      const endsAt = seconds === undefined ? undefined : new Date(Date.now() + seconds * SECOND)
      if (!endsAt || (account.endsAt && endsAt <= account.endsAt)) return account
      return { ...account, accessToken, endsAt }
    },
  }
}
