import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { KNOWN_DEVICE_MS } from '../domain/users/login-throttle.ts'
import { SECOND } from '../domain/shared/times.ts'

/** The number of accounts that one browser stays known to. */
const MAX_ACCOUNTS = 5
const ID_BYTES = 16
const ENTRY = /^([\w-]{22})\.(\d{1,12})\.([\w-]{43})$/

interface Entry {
  id: string
  /** Seconds since the epoch. */
  issuedAt: number
  mac: string
}

/**
 * Recognizes devices that logged in to an account before, by a cookie. The cookie grants no access: it only gives guesses from
 * the device a limit of their own. It holds one entry per account, `<id>.<issued at>.<MAC>`, newest first, bound to its user.
 */
export function createKnownDevices(secret: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'known devices', 32))
  const computeMac = (id: string, issuedAt: number, userId: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([id, issuedAt, userId]))
      .digest()
  const belongsTo = ({ id, issuedAt, mac }: Entry, userId: string) =>
    timingSafeEqual(Buffer.from(mac, 'base64url'), computeMac(id, issuedAt, userId))

  return {
    /** Returns the id of the device, or null when the cookie does not prove an earlier login to this account. */
    find(cookie: string | undefined, userId: string, now: Date): string | null {
      const known = parseEntries(cookie).find((entry) => belongsTo(entry, userId))
      return known && now.getTime() - known.issuedAt * SECOND < KNOWN_DEVICE_MS ? known.id : null
    },

    /** Returns the value of the cookie after a login. A known device keeps its id, so a new cookie gives it no new guesses. */
    remember(cookie: string | undefined, userId: string, now: Date): string {
      const entries = parseEntries(cookie)
      const known = entries.find((entry) => belongsTo(entry, userId))
      const id = known?.id ?? randomBytes(ID_BYTES).toString('base64url')
      const issuedAt = Math.floor(now.getTime() / SECOND)
      const entry = { id, issuedAt, mac: computeMac(id, issuedAt, userId).toString('base64url') }
      const newest = [entry, ...entries.filter((other) => other !== known)].slice(0, MAX_ACCOUNTS)
      return newest.map((one) => `${one.id}.${one.issuedAt}.${one.mac}`).join('~')
    },
  }
}

function parseEntries(cookie = ''): Entry[] {
  const texts = cookie.split('~', MAX_ACCOUNTS)
  return texts.flatMap((text) => {
    const [, id, issuedAt, mac] = ENTRY.exec(text) ?? []
    return id !== undefined && issuedAt !== undefined && mac !== undefined
      ? [{ id, issuedAt: Number(issuedAt), mac }]
      : []
  })
}

export type KnownDevices = ReturnType<typeof createKnownDevices>
