import { randomBytes } from 'node:crypto'
import type { SandboxResponse } from '../proxied-platform.ts'
import { callerOf, GraphRefusal, noSuchObject, type GraphCall } from '../shared/graph/graph.ts'
import type { Account, State, Token } from './state.ts'

/** The owner of a request's token. */
export interface Caller {
  token: Token
  account: Account
}

const SHORT_LIFE_MS = 3_600_000
const LONG_LIFE_MS = 60 * 86_400_000
/** Younger tokens cannot be refreshed. */
const REFRESH_AFTER_MS = 86_400_000

/** Issues, exchanges and refreshes tokens. */
export function createTokens(state: State) {
  function issue(fields: Pick<Token, 'appId' | 'accountId' | 'scopes' | 'isLong'>): Token {
    const token = `THAAsandbox${randomBytes(24).toString('hex')}`
    const issuedAt = Date.now()
    const expiresAt = issuedAt + (fields.isLong ? LONG_LIFE_MS : SHORT_LIFE_MS)
    return state.tokens.set(token, { ...fields, token, issuedAt, expiresAt, isRevoked: false })
  }

  /** @throws GraphRefusal */
  function callerBy(text: string): Caller {
    const token = state.tokens.get(text)
    if (!token) throw dead('Invalid OAuth access token - Cannot parse access token')
    if (token.isRevoked) {
      throw dead('Error validating access token: The user has not authorized application SANDBOX.', 458)
    }
    if (token.expiresAt <= Date.now()) throw dead('Error validating access token: Session has expired.', 463)
    return { token, account: state.accounts.get(token.accountId)! }
  }

  /** The response with `access_token`, which this host accepts as a parameter or in a header. */
  function present({ token, expiresAt }: Token): SandboxResponse {
    const expiresIn = Math.round((expiresAt - Date.now()) / 1_000)
    return { status: 200, body: { access_token: token, token_type: 'bearer', expires_in: expiresIn } }
  }

  return {
    issue,
    callerBy,

    /** Exchanges a short-lived token for a long-lived one. */
    exchange(call: GraphCall<Caller>): SandboxResponse {
      const { token } = callerOf(call)
      if (call.params.get('grant_type') !== 'th_exchange_token') throw badGrant()
      const app = state.apps.get(token.appId)
      if (app?.secret !== call.params.get('client_secret')) {
        throw new GraphRefusal({ code: 101, message: 'Error validating application. Invalid client secret.' })
      }
      if (token.isLong) throw new GraphRefusal({ code: 452, message: 'Session key invalid.' })
      return present(issue({ ...token, isLong: true }))
    },

    /** Exchanges a long-lived token for a new one with a full lifetime; the old one stays valid. */
    refresh(call: GraphCall<Caller>): SandboxResponse {
      const { token } = callerOf(call)
      if (call.params.get('grant_type') !== 'th_refresh_token') throw badGrant()
      if (!token.isLong || Date.now() - token.issuedAt < REFRESH_AFTER_MS) {
        throw new GraphRefusal({ code: 100, message: 'The access token cannot be refreshed yet.' })
      }
      return present(issue(token))
    },

    revokeAll: (accountId: string): void => change(accountId, () => ({ isRevoked: true })),
    expireAll: (accountId: string): void => change(accountId, () => ({ expiresAt: Date.now() })),
    /** Makes the tokens older by this time. */
    age: (accountId: string, ms: number): void =>
      change(accountId, ({ issuedAt, expiresAt }) => ({ issuedAt: issuedAt - ms, expiresAt: expiresAt - ms })),
  }

  function change(accountId: string, how: (token: Token) => Partial<Token>): void {
    for (const token of state.tokens.values()) {
      if (token.accountId === accountId) state.tokens.set(token.token, { ...token, ...how(token) })
    }
  }
}

export type Tokens = ReturnType<typeof createTokens>

/** @throws GraphRefusal */
export function requireScope({ token }: Caller, scope: string): void {
  if (token.scopes.includes(scope)) return
  throw new GraphRefusal({
    code: 10,
    type: 'THApiException',
    message: `Application does not have permission for this action: ${scope}`,
  })
}

/** @throws GraphRefusal unless the path names the token's account */
export function ownAccount(call: GraphCall<Caller>, scope: string): Caller {
  const caller = callerOf(call)
  if (call.ids[0] !== caller.account.id) throw noSuchObject(call.ids[0]!, call.method)
  requireScope(caller, 'threads_basic')
  requireScope(caller, scope)
  return caller
}

function dead(message: string, subcode?: number): GraphRefusal {
  return new GraphRefusal({ code: 190, message, ...(subcode !== undefined && { subcode }) })
}

function badGrant(): GraphRefusal {
  return new GraphRefusal({ code: 100, message: 'Invalid grant_type' })
}
