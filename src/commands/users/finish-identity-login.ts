import { IdentityError, type LoginRefusal } from '../../domain/users/identity-login.ts'
import { toPlatformReason } from '../../domain/posts/platform-reason.ts'
import { isMailAddress } from '../../domain/users/mail-addresses.ts'
import { pickUsableName } from '../../domain/shared/names.ts'
import { identityAttemptSecret } from '../../domain/shared/secrets.ts'
import { newUser, type User } from '../../domain/users/user.ts'
import type { Identity, IdentityProvider } from '../../integrations/openid/openid.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import type { IdentityAttempt } from '../../store/users/identity-attempts.ts'
import { newId } from '../../store/shared/schema.ts'
import { openAttemptSecrets } from '../shared/attempt-secrets.ts'
import { openSession, type Client, type SessionTokens } from './open-session.ts'
import { hashSecret } from '../../security/random.ts'
import type { SessionContext } from '../context.ts'

interface FinishIdentityLogin extends Client {
  /** The callback's address, equal to the one at the start of the login. */
  redirectUri: string
  /** The query parameters from the provider, each once. */
  query: Record<string, string>
  /** The binding that the browser presents. */
  binding: string | undefined
}

interface Refused {
  refusal: LoginRefusal
  /** The error behind the refusal, where there is one. */
  cause?: unknown
}

type FinishedLogin = { tokens: SessionTokens } | Refused

const DEFAULT_NAME = 'New user'
const MAX_PICTURE_LENGTH = 2_048

/**
 * Finishes what `beginIdentityLogin` started. The provider is called only for an attempt that is open, in the right browser,
 * and consumed by this call. An account is found by the provider's own id alone, because an email address may have a new owner.
 */
export async function finishIdentityLogin(
  deps: SessionContext & { identity: IdentityProvider },
  input: FinishIdentityLogin,
): Promise<FinishedLogin> {
  const { redirectUri, query, binding } = input
  const state = query['state']
  if (state === undefined) return toExpired('The callback has no state', query)
  if (binding === undefined) return toExpired('The browser sent no cookie of a login', query)
  const attempt = await deps.identityAttempts.consume(
    { _id: hashSecret(state) },
    [hashSecret(binding)],
    deps.clock.now(),
  )
  if (!attempt?.secrets) return toExpired('No login of this browser is open under this state', query)
  const { nonce, verifier } = openAttemptSecrets(deps.cipher, identityAttemptSecret(attempt), attempt.secrets)

  let identity: Identity
  try {
    identity = await deps.identity.complete(query, { redirectUri, state, nonce: nonce!, verifier: verifier! })
  } catch (cause) {
    return { refusal: 'google_auth_failed', cause }
  }
  const found = (await deps.users.findBySubject(identity.subject)) ?? (await createAccount(deps, identity, attempt))
  if ('refusal' in found) return found
  if (found.isDisabled) return { refusal: 'google_auth_failed', cause: new Error('The account is disabled') }
  return { tokens: await openSession(deps, found, input) }
}

function toExpired(why: string, { error, error_description: text }: Record<string, string>): Refused {
  return { refusal: 'session_expired', cause: new IdentityError(why, toPlatformReason({ code: error, text })) }
}

/** Creates the account of a first login. Of several concurrent first logins one creates it, and the others find it. */
async function createAccount(
  { users, planLimits, clock }: SessionContext & { identity: IdentityProvider },
  identity: Identity,
  { timezone }: IdentityAttempt,
): Promise<User | Refused> {
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
      ...(timezone !== undefined && { timezone }),
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
