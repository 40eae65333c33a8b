import type { Stripe } from 'stripe'
import { SECOND } from '../../domain/shared/times.ts'

const TOLERANCE_SECONDS = 300

type Verifier = Stripe['webhooks']

/**
 * Returns the body as text if one of the secrets signed these bytes within 300 s of `now`, in either direction; else null. The
 * library checks only for old signatures, and would decode invalid UTF-8 or a byte order mark to other text than was signed.
 */
export function verifyBody(
  verifier: Verifier,
  { rawBody, signature, secrets, now }: { rawBody: Buffer; signature: string; secrets: string[]; now: Date },
): string | null {
  const text = decodeUtf8(rawBody)
  if (text === null || isAhead(signature, now)) return null
  return secrets.some((secret) => isSignedBy(verifier, secret, { text, signature, now })) ? text : null
}

function isSignedBy(
  verifier: Verifier,
  secret: string,
  { text, signature, now }: { text: string; signature: string; now: Date },
): boolean {
  try {
    return (
      verifier.signature?.verifyHeader(text, signature, secret, TOLERANCE_SECONDS, undefined, now.getTime()) === true
    )
  } catch {
    return false
  }
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Uses the last timestamp of the header, which is the one that the library takes as signed. */
function isAhead(signature: string, now: Date): boolean {
  const stated = signature
    .split(',')
    .filter((part) => part.startsWith('t='))
    .at(-1)
  const instant = /^t=(\d{1,12})$/.exec(stated ?? '')?.[1]
  return instant === undefined || Number(instant) * SECOND - now.getTime() > TOLERANCE_SECONDS * SECOND
}
