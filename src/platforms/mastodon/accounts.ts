import { createHash, randomBytes } from 'node:crypto'
import { isWebUrl } from '../../domain/shared/links.ts'
import type { CallOptions, AuthorizedAccount, Credentials, Profile, RedirectConnect } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toLoginError } from '../shared/login-error.ts'
import { toFormBody, ignoreBody } from '../shared/calls.ts'
import { parseCount } from '../shared/counts.ts'
import { readAccount, readToken, type Account } from './responses.ts'
import type { Api } from './api.ts'
import { toPlainText } from './html.ts'

interface AccountDeps {
  api: Api
  /** The client for calls that can wait. */
  reading: Api
  clientId: string
  clientSecret: string
}

/** The scopes for publishing, reconciling and metrics. The application on the instance needs the same. */
export const SCOPES = ['read:accounts', 'read:statuses', 'write:statuses', 'write:media']

/** Logs in on the instance's own page (https://docs.joinmastodon.org/spec/oauth/), ends logins and reads accounts. */
export function createAccounts({ api, reading, clientId, clientSecret }: AccountDeps) {
  const client = { client_id: clientId, client_secret: clientSecret }

  const begin: RedirectConnect['begin'] = async ({ state, redirectUri }) => {
    const verifier = randomBytes(32).toString('base64url')
    const url = new URL(`${api.base}/oauth/authorize`)
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: SCOPES.join(' '),
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }).toString()
    return { url: url.href, secrets: { verifier } }
  }

  const complete: RedirectConnect['complete'] = async ({ query, redirectUri, secrets }, { signal }) => {
    const { code, error } = query
    if (error !== undefined || !code) {
      throw toLoginError('Mastodon', query)
    }
    const { body: token } = await api.post(
      '/oauth/token',
      toFormBody({
        grant_type: 'authorization_code',
        code,
        ...client,
        redirect_uri: redirectUri,
        code_verifier: secrets['verifier'] ?? '',
      }),
      readToken,
      { signal },
    )
    const granted = token.scope.split(/[\s+]+/)
    if (SCOPES.some((scope) => !granted.includes(scope) && !granted.includes(scope.split(':')[0]!))) {
      // This login is not stored, so it is revoked; a failure to revoke it changes nothing.
      await revokeToken(token.access_token, { signal }).catch(() => undefined)
      throw new PlatformError(
        'permission',
        'Mastodon did not grant all permissions: connect it again and allow all of them',
        { certain: true },
      )
    }
    // Not revoked on a failure: logins with the same scopes share one token, which an older connection may use.
    return fetchAccount(token.access_token, { signal })
  }

  async function fetchAccount(accessToken: string, options: CallOptions): Promise<AuthorizedAccount> {
    const account = await fetchOwnAccount(api, accessToken, options)
    const handle = toHandle(account)
    return {
      credentials: { accountId: account.id, handle, serviceUrl: api.base, accessToken },
      profile: toProfile(account),
    }
  }

  async function fetchOwnAccount(fromApi: Api, token: string, { signal }: CallOptions): Promise<Account> {
    return (await fromApi.get('/api/v1/accounts/verify_credentials', {}, readAccount, { token, signal })).body
  }

  async function revokeToken(token: string, { signal }: CallOptions): Promise<void> {
    await api.post('/oauth/revoke', toFormBody({ ...client, token }), ignoreBody, { signal })
  }

  /** For local accounts `acct` does not contain the server. */
  function toHandle({ username }: Account): string {
    return `${username}@${new URL(api.base).host}`
  }

  function toProfile(account: Account): Profile {
    const description = toPlainText(account.note ?? '')
    return {
      displayName: account.display_name?.trim() || account.username,
      handle: toHandle(account),
      avatar: isWebUrl(account.avatar) ? account.avatar : null,
      ...(description !== '' && { description }),
    }
  }

  /**
   * Accounts live on the one configured instance. Their tokens are sent to no other server, not even to the previously
   * configured one.
   * @throws PlatformError `unauthorized`
   */
  function assertSameInstance({ serviceUrl }: Pick<Credentials, 'serviceUrl'>): void {
    if (serviceUrl === api.base) return
    throw new PlatformError('unauthorized', 'This Mastodon account is on another server', { certain: true })
  }

  const connect: RedirectConnect = { begin, complete }
  return {
    connect,
    assertSameInstance,

    /** Returns whether the account still exists and the token still belongs to it. */
    async isAccountPresent(account: Credentials, options: CallOptions): Promise<boolean> {
      return (await fetchOwnAccount(reading, account.accessToken, options)).id === account.accountId
    },

    async profile(account: Credentials, options: CallOptions): Promise<Profile> {
      assertSameInstance(account)
      return toProfile(await fetchOwnAccount(api, account.accessToken, options))
    },

    async followers(account: Credentials, options: CallOptions): Promise<number | null> {
      assertSameInstance(account)
      return parseCount((await fetchOwnAccount(reading, account.accessToken, options)).followers_count)
    },

    async revoke(account: Credentials, options: CallOptions): Promise<void> {
      if (account.serviceUrl === api.base) await revokeToken(account.accessToken, options)
    },
  }
}
