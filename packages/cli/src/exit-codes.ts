import { ApiError, ConnectionError, UploadError } from '@postonce/sdk'

/** The exit codes of the command line. Scripts rely on them, so they do not change. */
export const EXIT = {
  done: 0,
  /** A problem that has no code of its own. */
  failed: 1,
  /** Invalid arguments; nothing was changed. */
  usage: 2,
  /** Not logged in, or the key lacks a scope. */
  unauthorized: 3,
  /** The API refused the request. */
  refused: 4,
  /** No response, a rate limit, or a failure of the service. Try again later. */
  unavailable: 5,
  /** A post was not published on every account, or an import has failed rows. */
  incomplete: 6,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A problem that the user can solve, with its exit code. */
export class CliError extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode) {
    super(message)
    this.exitCode = exitCode
  }
}

export function toExitCode(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode
  if (error instanceof ConnectionError) return EXIT.unavailable
  if (error instanceof UploadError) return error.status >= 500 ? EXIT.unavailable : EXIT.refused
  if (!(error instanceof ApiError)) return EXIT.failed
  if (error.status === 401 || error.code === 'INSUFFICIENT_SCOPE' || error.code === 'SESSION_REQUIRED') {
    return EXIT.unauthorized
  }
  return error.status === 429 || error.status >= 500 ? EXIT.unavailable : EXIT.refused
}

/** Returns the text of an error: its message, then one line per problem. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof ApiError)) return error.message
  const problems = error.problems.map(({ path, message }) => `  ${path ? `${path}: ` : ''}${message}`)
  const request = error.requestId === null ? [] : [`  Request ${error.requestId}`]
  return [`${error.message} (${error.code})`, ...problems, ...request].join('\n')
}
