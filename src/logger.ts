import pino, { type DestinationStream, type Logger } from 'pino'

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

/** The query of a callback. Elsewhere `code` is an error code and `state` is the state of a worker, which are logged. */
const OAUTH_CALLBACK_PARAMS = ['query.code', 'query.state', '*.query.code', '*.query.state']

/** Logs JSON lines, to standard output by default. Pino escapes newlines and control characters. */
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
