import pino, { type DestinationStream, type Logger } from 'pino'

/** Paths that may carry secrets, at any of the depths our log calls use. */
const SECRET_PATHS = [
  'password',
  'appPassword',
  'token',
  'accessToken',
  'refreshToken',
  'authorization',
  'cookie',
  'secret',
  'email',
]

/** Only where a callback's parameters may be: elsewhere `code` is what an error is told by, and `state` a worker's. */
const OAUTH_CALLBACK_PARAMS = ['query.code', 'query.state', '*.query.code', '*.query.state']

/** JSON lines, on standard output when not said otherwise; pino escapes newlines and control characters. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [...SECRET_PATHS.flatMap((name) => [name, `*.${name}`]), ...OAUTH_CALLBACK_PARAMS],
      censor: '[redacted]',
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

export type { Logger }
