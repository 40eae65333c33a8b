import pino, { type DestinationStream, type Logger } from 'pino'
import { API_KEY_PATTERN, API_KEY_PREFIX } from './domain/users/api-keys.ts'

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

/** Hides API keys in whatever field they arrive. Their form makes them recognisable, as for secret scanners. */
const ANY_API_KEY = new RegExp(API_KEY_PATTERN, 'g')
const maskApiKeys = (line: string) =>
  line.includes(API_KEY_PREFIX) ? line.replace(ANY_API_KEY, `${API_KEY_PREFIX}[redacted]`) : line

/** The query of a callback. Elsewhere `code` is an error code and `state` is the state of a worker, which are logged. */
const OAUTH_CALLBACK_PARAMS = ['query.code', 'query.state', '*.query.code', '*.query.state']

/** Logs JSON lines, to standard output by default. Pino escapes newlines and control characters. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: maskApiKeys },
    redact: {
      paths: [...SECRET_PATHS.flatMap((name) => [name, `*.${name}`]), ...OAUTH_CALLBACK_PARAMS],
      censor: '[redacted]',
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

export type { Logger }
