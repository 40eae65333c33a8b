import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Platform } from '../domain/shared/platforms.ts'
import { SECOND } from '../domain/shared/times.ts'

/** The purpose of a state: it is valid at that platform's callback only. */
interface Purpose {
  platform: Platform
  redirectUri: string
}

interface ConnectState {
  userId: string
  /** 128 random bits that name the attempt. */
  nonce: string
}

const NONCE_BYTES = 16
/** User id, nonce, expiry in unix seconds, MAC. */
const STATE = /^([0-9a-f]{24})\.([\w-]{22})\.([1-9]\d{9})\.([\w-]{43})$/

/**
 * Issues and reads OAuth `state` values. A state starts with the user id, and a MAC proves that it is ours.
 * @param secret used for nothing else
 */
export function createConnectStates(secret: string) {
  function computeMac({ platform, redirectUri }: Purpose, userId: string, nonce: string, expiry: string): string {
    // No part contains a line break, so different parts never produce the same text.
    const parts = [platform, redirectUri, userId, nonce, expiry]
    return createHmac('sha256', secret).update(parts.join('\n')).digest('base64url')
  }

  return {
    /** Issues a state. Its expiry is rounded down to the second. */
    issue(purpose: Purpose, userId: string, expiresAt: Date): { state: string; nonce: string } {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const expiry = String(Math.floor(expiresAt.getTime() / SECOND))
      const mac = computeMac(purpose, userId, nonce, expiry)
      return { state: [userId, nonce, expiry, mac].join('.'), nonce }
    },

    /** Returns the contents of a state, or null when it is not ours, has another purpose, or has expired. */
    read(state: string, purpose: Purpose, now: Date): ConnectState | null {
      const [, userId, nonce, expiry, mac] = STATE.exec(state) ?? []
      if (userId === undefined || nonce === undefined || expiry === undefined || mac === undefined) return null
      // Compared as text: another encoding of the same bytes is not a state of ours.
      const isAuthentic = timingSafeEqual(Buffer.from(mac), Buffer.from(computeMac(purpose, userId, nonce, expiry)))
      const isOver = Number(expiry) * SECOND <= now.getTime()
      // guard: state MAC
      return isAuthentic && !isOver ? { userId, nonce } : null
    },
  }
}

export type ConnectStates = ReturnType<typeof createConnectStates>
