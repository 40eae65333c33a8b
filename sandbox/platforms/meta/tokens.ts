import { randomBytes } from 'node:crypto'
import { GraphRefusal } from '../shared/graph/graph.ts'
import type { MetaState, Page, Person, Token } from './state.ts'

/** The owner of a request's token. */
export interface Caller {
  token: Token
  person: Person
  /** The page of a page token; `null` for a user token. */
  page: Page | null
}

type Death = NonNullable<Token['death']>

/** Why a token is invalid, with the platform's wording. */
const DEATHS: Record<Death, { subcode: number; message: string }> = {
  removed: {
    subcode: 458,
    message: 'Error validating access token: The user has not authorized application SANDBOX.',
  },
  password: {
    subcode: 460,
    message:
      'Error validating access token: The session has been invalidated because the user changed their password or Facebook has changed the session for security reasons.',
  },
  expired: { subcode: 463, message: 'Error validating access token: Session has expired.' },
  role: {
    subcode: 492,
    message: 'Error validating access token: The user must be an administrator, editor, or moderator of the page.',
  },
}

export function createTokens(state: MetaState) {
  function issue(fields: Omit<Token, 'token' | 'issuedAt' | 'death'>): Token {
    const token = `EAAsandbox${randomBytes(24).toString('hex')}`
    return state.tokens.set(token, { ...fields, token, issuedAt: Date.now(), death: null })
  }

  function deathOf({ death, expiresAt }: Token): Death | null {
    return death ?? (expiresAt !== 0 && expiresAt <= Date.now() ? 'expired' : null)
  }

  /** @throws GraphRefusal */
  function callerBy(text: string): Caller {
    const token = state.tokens.get(text)
    if (!token) throw new GraphRefusal({ code: 190, message: 'Invalid OAuth access token - Cannot parse access token' })
    const death = deathOf(token)
    if (death) throw new GraphRefusal({ code: 190, status: 401, ...DEATHS[death] })
    return {
      token,
      person: state.persons.get(token.personId)!,
      page: token.pageId === null ? null : (state.pages.get(token.pageId) ?? null),
    }
  }

  /** Invalidates the matching tokens and returns their number. */
  function end(death: Death, which: (token: Token) => boolean): number {
    const ended = state.tokens.values().filter((token) => deathOf(token) === null && which(token))
    for (const token of ended) state.tokens.set(token.token, { ...token, death })
    return ended.length
  }

  return { issue, callerBy, end, isAlive: (token: Token) => deathOf(token) === null }
}

export type Tokens = ReturnType<typeof createTokens>

/** @throws GraphRefusal */
export function requireScopes({ token }: Caller, ...scopes: string[]): void {
  const missing = missingOf(token, scopes)
  if (missing.length === 0) return
  throw new GraphRefusal({ code: 200, status: 403, message: `(#200) Requires ${missing.join(', ')} permission` })
}

/**
 * Refusals to read pages have another wording.
 * @throws GraphRefusal
 */
export function requireToRead({ token }: Caller, ...scopes: string[]): void {
  const [missing] = missingOf(token, scopes)
  if (missing === undefined) return
  throw new GraphRefusal({
    code: 10,
    message: `(#10) This endpoint requires the '${missing}' permission or the 'Page Public Content Access' feature. Refer to https://developers.facebook.com/docs/apps/review/login-permissions for details.`,
  })
}

function missingOf({ scopes: granted }: Token, scopes: string[]): string[] {
  return scopes.filter((scope) => !granted.includes(scope))
}
