import type { Context } from '../../context.ts'
import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import type { IdentityProvider } from '../../integrations/openid/openid.ts'
import { loginAttemptContext, sealAttemptSecrets } from '../shared/attempt-secrets.ts'
import { hashOf, newSecret } from '../../security/random.ts'

interface BeginDeps extends Pick<Context, 'loginAttempts' | 'cipher' | 'clock'> {
  identity: Pick<IdentityProvider, 'begin'>
}

/**
 * Begins a login on the identity provider's page. Only the browser that holds `binding` can finish: else somebody could be logged in,
 * by a link, to the account of whoever made it.
 * @throws what the provider's outage throws
 */
export async function beginIdentityLogin(
  { identity, loginAttempts, cipher, clock }: BeginDeps,
  redirectUri: string,
): Promise<{ url: string; binding: string }> {
  const [state, binding] = [newSecret(), newSecret()]
  const secrets = { nonce: newSecret(), verifier: newSecret() }
  const url = await identity.begin({ redirectUri, state, ...secrets })
  const _id = hashOf(state)
  await loginAttempts.insert({
    _id,
    secrets: sealAttemptSecrets(cipher, loginAttemptContext({ _id }), secrets),
    bindingHash: hashOf(binding),
    expiresAt: new Date(clock.now().getTime() + REDIRECT_LIFETIME_MS),
    consumedAt: null,
  })
  return { url, binding }
}
