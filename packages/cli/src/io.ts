import { createClient, isServiceUrl, type Client } from '@postonce/sdk'
import { readCredentials, writeCredentials, type Credentials } from './credentials.ts'
import { CliError, EXIT, type ExitCode } from './exit-codes.ts'

/** Options that every command has. */
export interface GlobalOptions {
  json?: boolean
  url?: string
}

/** The input and output of commands. */
export interface Io {
  env: Record<string, string | undefined>
  /** Aborts at Ctrl-C. */
  signal: AbortSignal
  /** Writes the result of a command. */
  print(text: string): void
  /** Writes a remark for people, not part of the result. */
  note(text: string): void
  /** Replaces the progress line of a terminal; elsewhere it does nothing. */
  progress(text: string): void
  /** Reads standard input to its end. */
  readInput(): Promise<string>
  setExitCode(code: ExitCode): void
}

/**
 * Creates the client of a command. The environment is preferred to what `postonce login` stored. Stored credentials are sent only to
 * the service that they belong to.
 * @throws CliError without a service or credentials
 */
export function openClient(io: Io, { url: given }: GlobalOptions): Client {
  const stored = readCredentials(io.env)
  const url = given ?? readVariable(io, 'POSTONCE_URL') ?? stored?.url
  if (url === undefined) throw notLoggedIn('No service is chosen.')
  assertServiceUrl(url)
  const apiKey = readVariable(io, 'POSTONCE_API_KEY')
  if (apiKey !== undefined) return createClient({ url, apiKey, client: 'cli' })
  if (stored === null) throw notLoggedIn('You are not logged in.')
  if (new URL(stored.url).origin !== new URL(url).origin) throw notLoggedIn(`You are not logged in to ${url}.`)
  return openStored(io, stored)
}

/** Creates a client for stored credentials, and stores the tokens of each refresh. */
export function openStored(io: Pick<Io, 'env'>, stored: Credentials): Client {
  const { url, apiKey, session } = stored
  return createClient({
    client: 'cli',
    url,
    apiKey,
    session,
    onSessionChange: (changed) => writeCredentials(io.env, { url, session: changed }),
  })
}

/** @throws CliError for an address without a scheme */
export function assertServiceUrl(url: string): void {
  if (isServiceUrl(url)) return
  throw new CliError(`"${url}" is not an address such as https://postonce.example.com.`, EXIT.usage)
}

/** Reads a variable of the environment. An empty one counts as absent. */
export function readVariable({ env }: Pick<Io, 'env'>, name: string): string | undefined {
  return env[name] || undefined
}

function notLoggedIn(reason: string): CliError {
  return new CliError(`${reason} Run "postonce login", or set POSTONCE_URL and POSTONCE_API_KEY.`, EXIT.unauthorized)
}
