import { REDIRECT_LIFETIME_MS } from '../../domain/shared/redirects.ts'
import { identityAttemptSecret } from '../../domain/shared/secrets.ts'
import type { IdentityProvider } from '../../integrations/openid/openid.ts'
import { sealAttemptSecrets } from '../shared/attempt-secrets.ts'
import { hashSecret, newSecret } from '../../security/random.ts'
import type { CommandContext } from '../context.ts'

/**
 * Starts a login on the identity provider's page. Only the browser that holds `binding` can finish it. Without that, a link
 * could log a user in to the account of its creator.
 * @param timezone that of the account if the login creates one
 * @throws the error of a provider outage
 */
export async function beginIdentityLogin(
  { identity, identityAttempts: loginAttempts, cipher, clock }: CommandContext & { identity: IdentityProvider },
  redirectUri: string,
  timezone?: string,
): Promise<{ url: string; binding: string }> {
  const [state, binding] = [newSecret(), newSecret()]
  const secrets = { nonce: newSecret(), verifier: newSecret() }
  const url = await identity.begin({ redirectUri, state, ...secrets })
  const _id = hashSecret(state)
  await loginAttempts.insert({
    _id,
    secrets: sealAttemptSecrets(cipher, identityAttemptSecret({ _id }), secrets),
    bindingHash: hashSecret(binding),
    ...(timezone !== undefined && { timezone }),
    expiresAt: new Date(clock.now().getTime() + REDIRECT_LIFETIME_MS),
    consumedAt: null,
  })
  return { url, binding }
}
