import pino, { type Logger } from 'pino'

/** Paths that may carry secrets, at any of the depths our log calls use. */
const SECRETS = ['password', 'appPassword', 'token', 'accessToken', 'refreshToken', 'authorization', 'cookie', 'secret', 'code', 'state', 'email']

/** JSON lines on standard output; pino escapes newlines and control characters. */
export function createLogger(level: string): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  })
}

export type { Logger }
