import { createHash, randomBytes } from 'node:crypto'
import { isWebUrl } from '../../domain/shared/links.ts'
import { takeCodePoints } from '../../domain/shared/text.ts'
import type {
  AuthorizedAccount,
  CallOptions,
  Credentials,
  Profile,
  RedirectConnect,
  ServerApplication,
} from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toLoginError } from '../shared/login-error.ts'
import { toFormBody, ignoreBody } from '../shared/calls.ts'
import { parseCount } from '../shared/counts.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import { readAccount, readToken, type Account, type Token } from './responses.ts'
import { OWN_ACCOUNT, type Api } from './api.ts'
import { toPlainText } from './html.ts'

export type Client = Pick<ServerApplication, 'clientId' | 'clientSecret'>

/** This service as an application on one server. */
export interface ApplicationSource {
  /** Returns an application that the server knows and that may redirect there. */
  get(redirectUri: string, options: CallOptions): Promise<Client>
  /** Returns the application without a call; `null` when there is none. */
  find(): Promise<Client | null>
  /** Forgets an application that the server no longer knows. */
  forget(client: Client): Promise<void>
}

interface AccountDeps {
  api: Api
  /** The client for calls that can wait. */
  reading: Api
  application: ApplicationSource
}

/** The scopes for publishing, reconciling and metrics. */
export const SCOPES = ['read:accounts', 'read:statuses', 'write:statuses', 'write:media']
const MAX_NAME_LENGTH = 255
const MAX_DESCRIPTION_LENGTH = 5_000
const MAX_URL_LENGTH = 2_048

/** Logs in on the instance's own page (https://docs.joinmastodon.org/spec/oauth/), ends logins and reads accounts. */
export function createAccounts({ api, reading, application }: AccountDeps) {
  const begin: RedirectConnect['begin'] = async ({ state, redirectUri }, options) => {
    const { clientId } = await application.get(redirectUri, options)
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
    const grant = { code, redirect_uri: redirectUri, code_verifier: secrets['verifier'] ?? '' }
    const token = await exchange(grant, { signal })
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

  async function exchange(grant: Record<string, string>, { signal }: CallOptions): Promise<Token> {
    const client = await application.find()
    if (!client) throw unknownApplication()
    const fields = { grant_type: 'authorization_code', ...grant, ...toClientFields(client) }
    try {
      return (await api.post('/oauth/token', toFormBody(fields), readToken, { signal })).body
    } catch (error) {
      if (isRefusedAs(error, 'application-unknown')) await application.forget(client)
      throw error
    }
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
    return (await fromApi.get(OWN_ACCOUNT, {}, readAccount, { token, signal })).body
  }

  async function revokeToken(token: string, { signal }: CallOptions): Promise<void> {
    const client = await application.find()
    if (!client) return
    await api.post('/oauth/revoke', toFormBody({ ...toClientFields(client), token }), ignoreBody, { signal })
  }

  /** For local accounts `acct` does not contain the server. */
  function toHandle({ username }: Account): string {
    return `${username}@${new URL(api.base).host}`
  }

  function toProfile(account: Account): Profile {
    const description = takeCodePoints(toPlainText(account.note ?? ''), MAX_DESCRIPTION_LENGTH)
    const displayName = takeCodePoints(account.display_name?.trim() ?? '', MAX_NAME_LENGTH)
    return {
      displayName: displayName || account.username,
      handle: toHandle(account),
      avatar: isWebUrl(account.avatar) && account.avatar.length <= MAX_URL_LENGTH ? account.avatar : null,
      ...(description !== '' && { description }),
    }
  }

  return {
    begin,
    complete,

    /** Returns whether the account still exists and the token still belongs to it. */
    async isAccountPresent(account: Credentials, options: CallOptions): Promise<boolean> {
      return (await fetchOwnAccount(reading, account.accessToken, options)).id === account.accountId
    },

    async profile(account: Credentials, options: CallOptions): Promise<Profile> {
      return toProfile(await fetchOwnAccount(api, account.accessToken, options))
    },

    async followers(account: Credentials, options: CallOptions): Promise<number | null> {
      return parseCount((await fetchOwnAccount(reading, account.accessToken, options)).followers_count)
    },

    async revoke(account: Credentials, options: CallOptions): Promise<void> {
      await revokeToken(account.accessToken, options)
    },
  }
}

export function toClientFields({ clientId, clientSecret }: Client) {
  return { client_id: clientId, client_secret: clientSecret }
}

function unknownApplication(): PlatformError {
  return new PlatformError('permission', 'This server no longer knows this service: connect the account again', {
    certain: true,
    connectReason: 'LOGIN_REFUSED',
  })
}
