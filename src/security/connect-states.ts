import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Platform } from '../domain/shared/platforms.ts'
import { SECOND } from '../domain/shared/times.ts'

/** What a state was made for: it is good at that platform's callback alone. */
interface Purpose {
  platform: Platform
  redirectUri: string
}

interface ConnectState {
  userId: string
  /** 128 random bits, which name the attempt. */
  nonce: string
}

const NONCE_BYTES = 16
/** User id, nonce, expiry in unix seconds, MAC. */
const STATE = /^([0-9a-f]{24})\.([\w-]{22})\.([1-9]\d{9})\.([\w-]{43})$/

/**
 * The `state` of OAuth (safety.md section 3): it begins with the user id as spec 4.5 says, and a MAC shows that it is ours.
 * @param secret used for nothing else
 */
export function createConnectStates(secret: string) {
  function macOf({ platform, redirectUri }: Purpose, userId: string, nonce: string, expiry: string): string {
    // No part can hold a line break, so no two lists of parts read alike.
    const parts = [platform, redirectUri, userId, nonce, expiry]
    return createHmac('sha256', secret).update(parts.join('\n')).digest('base64url')
  }

  return {
    /** The end is kept to the second, cut off. */
    issue(purpose: Purpose, userId: string, expiresAt: Date): { state: string; nonce: string } {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const expiry = String(Math.floor(expiresAt.getTime() / SECOND))
      const mac = macOf(purpose, userId, nonce, expiry)
      return { state: [userId, nonce, expiry, mac].join('.'), nonce }
    },

    /** What the state says, or null when it is not ours, not for this purpose, or over. */
    read(state: string, purpose: Purpose, now: Date): ConnectState | null {
      const [, userId, nonce, expiry, mac] = STATE.exec(state) ?? []
      if (userId === undefined || nonce === undefined || expiry === undefined || mac === undefined) return null
      // Compared as text: another spelling of the same bytes is no state of ours.
      const isOurs = timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(purpose, userId, nonce, expiry)))
      const isOver = Number(expiry) * SECOND <= now.getTime()
      // guard: state MAC
      return isOurs && !isOver ? { userId, nonce } : null
    },
  }
}
