import { toOneLine, toPlainLine } from '../shared/plain-text.ts'

/** A platform's own explanation of a refusal, sanitized: its error code, its text, or both. */
export interface PlatformReason {
  code: string | null
  text: string | null
}

/** Untrusted code and text of a platform's response, of any length. */
interface RawReason {
  code?: string | number | undefined
  text?: string | undefined
}

const MAX_TEXT_LENGTH = 300
/** Characters read of a response. Anything after them would be cut anyway. */
const MAX_RAW_LENGTH = 4_000
/** Characters read of a text to mask. */
const MAX_HIDDEN_LENGTH = 100_000
/** Consecutive characters that identify an echo, so that echoes truncated by the platform are found too. */
const ECHO_LENGTH = 12
const SHORTEST_ECHO = 4
const HIDDEN = '[hidden]'

const CODE = /^[\w.:/-]{1,64}$/
/** Tokens, keys and ids are long runs. Words of this length contain no digits. */
const LONG_RUN = /[A-Za-z0-9_-]{20,}/g

/**
 * Sanitizes a platform's explanation for storage, logs and users: no markup, control characters or tokens, at most 300 characters.
 * Returns null when nothing is left. Linear in the length of its input.
 */
export function toPlatformReason({ code, text }: RawReason): PlatformReason | null {
  const reason = { code: CODE.test(String(code ?? '')) ? String(code) : null, text: sanitize(text ?? '') }
  return reason.code === null && reason.text === null ? null : reason
}

/** Masks whole or truncated repetitions of `hidden` in the text: secrets of the account and the post's own text. */
export function maskEchoes({ code, text }: PlatformReason, hidden: readonly string[]): PlatformReason {
  return { code, text: text === null ? null : hidden.reduce(maskEcho, text) }
}

/** Returns the reason as the last sentence of a message. */
export function quotePlatform({ code, text }: PlatformReason, label: string): string {
  // Some platforms send the code as the text, too.
  if (text === null || text === code) return `${label} says: ${code}`
  return `${label} says: “${text}”${code === null ? '' : ` (${code})`}`
}

function sanitize(raw: string): string | null {
  const plain = toPlainLine(raw.slice(0, MAX_RAW_LENGTH))
  const masked = plain.replace(LONG_RUN, (run) => (/\d/.test(run) && /[A-Za-z]/.test(run) ? HIDDEN : run))
  return masked === '' ? null : shorten(masked)
}

function shorten(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text
  const shortened = text.slice(0, MAX_TEXT_LENGTH - 1)
  // The cut must not leave a lone surrogate.
  return `${shortened.replace(/[\uD800-\uDBFF]$/, '')}…`
}

function maskEcho(text: string, source: string): string {
  const secret = toOneLine(source.slice(0, MAX_HIDDEN_LENGTH))
  const length = Math.min(ECHO_LENGTH, secret.length)
  if (length < SHORTEST_ECHO) return text
  const pieces = new Set(Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length)))
  let shown = ''
  let hiddenUntil = 0
  for (let at = 0; at < text.length; at++) {
    if (pieces.has(text.slice(at, at + length))) {
      if (at >= hiddenUntil) shown += HIDDEN
      hiddenUntil = at + length
    }
    if (at >= hiddenUntil) shown += text[at]
  }
  return shorten(shown)
}
