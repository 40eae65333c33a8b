import pino, { type DestinationStream, type Logger } from 'pino'
import { API_KEY_PATTERN, API_KEY_PREFIX } from './domain/users/api-keys.ts'
import { SECRET_PATTERN, SECRET_PREFIX } from './domain/webhooks/webhooks.ts'

/** Field names that may hold secrets, at the depths that log calls use. */
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

/** Hides API keys and signing secrets in whatever field they arrive. Their forms make them recognisable, as for secret scanners. */
const MASKED = [
  { prefix: API_KEY_PREFIX, pattern: new RegExp(API_KEY_PATTERN, 'g') },
  { prefix: SECRET_PREFIX, pattern: new RegExp(SECRET_PATTERN, 'g') },
]
const maskSecrets = (line: string) =>
  MASKED.reduce(
    (masked, { prefix, pattern }) =>
      masked.includes(prefix) ? masked.replace(pattern, `${prefix}[redacted]`) : masked,
    line,
  )

/** The query of a callback. Elsewhere `code` is an error code and `state` is the state of a worker, which are logged. */
const OAUTH_CALLBACK_PARAMS = ['query.code', 'query.state', '*.query.code', '*.query.state']

/** Logs JSON lines, to standard output by default. Pino escapes newlines and control characters. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: maskSecrets },
    redact: {
      paths: [...SECRET_PATHS.flatMap((name) => [name, `*.${name}`]), ...OAUTH_CALLBACK_PARAMS],
      censor: '[redacted]',
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

export type { Logger }
