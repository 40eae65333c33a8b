import type { ApiContext } from '../../context.ts'
import type { LoginRefusal } from '../../domain/users/identity-login.ts'
import { isMailAddress } from '../../domain/users/mail-addresses.ts'
import { pickUsableName } from '../../domain/users/names.ts'
import { newUser, type User } from '../../domain/users/user.ts'
import type { Identity, IdentityProvider } from '../../integrations/openid/openid.ts'
import { isDuplicateKey } from '../../store/shared/database.ts'
import { newId } from '../../store/shared/schema.ts'
import { loginAttemptContext, openAttemptSecrets } from '../shared/attempt-secrets.ts'
import { openSession, type Client, type SessionTokens } from './open-session.ts'
import { hashOf } from '../../security/random.ts'

interface FinishDeps extends Pick<
  ApiContext,
  'loginAttempts' | 'cipher' | 'users' | 'sessions' | 'accessTokens' | 'refreshTokens' | 'planLimits' | 'clock'
> {
  identity: Pick<IdentityProvider, 'complete'>
}

interface FinishIdentityLogin extends Client {
  /** The callback's own address, as it was when the login was begun. */
  redirectUri: string
  /** What the provider sent along, each parameter once. */
  query: Record<string, string>
  /** What the caller shows of the browser it was begun in. */
  binding: string | undefined
}

interface Refused {
  refusal: LoginRefusal
  /** Why, where that is more than the refusal says. */
  cause?: unknown
}

type FinishedLogin = { tokens: SessionTokens } | Refused

const DEFAULT_NAME = 'New user'
const MAX_PICTURE_LENGTH = 2_048

/**
 * Finishes what `beginIdentityLogin` began. The provider is asked only for an attempt that is open, in the right browser, and used up by
 * this very call. An account is found by the provider's own id alone: an address may belong to somebody else by now.
 */
export async function finishIdentityLogin(deps: FinishDeps, input: FinishIdentityLogin): Promise<FinishedLogin> {
  const { redirectUri, query, binding } = input
  const state = query['state']
  if (state === undefined || binding === undefined) return { refusal: 'session_expired' }
  const attempt = await deps.loginAttempts.consume({ _id: hashOf(state) }, [hashOf(binding)], deps.clock.now())
  if (!attempt?.secrets) return { refusal: 'session_expired' }
  const { nonce, verifier } = openAttemptSecrets(deps.cipher, loginAttemptContext(attempt), attempt.secrets)

  let identity: Identity
  try {
    identity = await deps.identity.complete(query, { redirectUri, state, nonce: nonce!, verifier: verifier! })
  } catch (cause) {
    return { refusal: 'google_auth_failed', cause }
  }
  const found = (await deps.users.findBySubject(identity.subject)) ?? (await createFor(deps, identity))
  if ('refusal' in found) return found
  if (found.isDisabled) return { refusal: 'google_auth_failed', cause: new Error('The account is disabled') }
  return { tokens: await openSession(deps, found, input) }
}

/** Of several first logins at once one makes the account, and the others find it. */
async function createFor({ users, planLimits, clock }: FinishDeps, identity: Identity): Promise<User | Refused> {
  const { subject, verifiedEmail: email, name, picture } = identity
  if (email === null || !isMailAddress(email)) return { refusal: 'no_email' }
  const user = newUser(
    {
      _id: newId(),
      email,
      name: pickUsableName([name, email.split('@')[0]!], DEFAULT_NAME),
      passwordHash: null,
      limits: planLimits.free,
      auth: { provider: 'google', subject },
      ...(picture !== null && isPicture(picture) && { avatar: picture }),
    },
    clock.now(),
  )
  try {
    await users.insert(user)
    return user
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    return (await users.findBySubject(subject)) ?? { refusal: 'email_exists_different_provider' }
  }
}

function isPicture(address: string): boolean {
  return address.length <= MAX_PICTURE_LENGTH && URL.canParse(address) && new URL(address).protocol === 'https:'
}
