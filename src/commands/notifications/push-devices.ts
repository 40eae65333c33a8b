import { createHash } from 'node:crypto'
import type { PushPlatform } from '../../domain/notifications/push.ts'
import { pushTokenSecret, SecretUnreadableError } from '../../domain/shared/secrets.ts'
import type { PushDevice } from '../../store/notifications/push-tokens.ts'
import type { CommandContext } from '../context.ts'

/**
 * Registers a device. A token is stored sealed and found by its hash, because any holder of our credentials could send to it.
 */
export async function registerPushDevice(
  { pushTokens, cipher }: CommandContext,
  { userId, token, platform }: { userId: string; token: string; platform: PushPlatform },
): Promise<void> {
  const _id = hashToken(token)
  const sealedToken = cipher.seal(token, pushTokenSecret({ _id, userId }))
  await pushTokens.register({ _id, userId, platform, sealedToken })
}

/** Returns false when the user has no device with this token. */
export function forgetPushDevice({ pushTokens }: CommandContext, userId: string, token: string): Promise<boolean> {
  return pushTokens.remove(userId, hashToken(token))
}

/** Opens a device's token; null when it cannot be read. */
export function openPushToken({ cipher }: CommandContext, device: PushDevice): string | null {
  try {
    return cipher.open(device.sealedToken, pushTokenSecret(device))
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null
    throw error
  }
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
