import { ApiError, logIn } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import {
  credentialsFile,
  readCredentials,
  removeCredentials,
  writeCredentials,
  type Credentials,
} from '../credentials.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { assertServiceUrl, openStored, readVariable, type GlobalOptions, type Io } from '../io.ts'
import { readSecret } from '../secrets.ts'

interface LoginOptions extends GlobalOptions {
  email?: string
}

export const loginCommands: CommandSpec[] = [
  {
    usage: 'login',
    summary: 'Store an API key, or log in with a password',
    description:
      'Stores an API key for later commands, or the session of a login with --email. The key or password is read from the ' +
      'terminal, or from standard input. The file can be read by you only.',
    options: [new Option('--email <address>', 'log in with this email address and a password')],
    async run({ io, options }: Run<LoginOptions>) {
      const credentials = await readLogin(io, options)
      await checkCredentials(io, credentials)
      writeCredentials(io.env, credentials)
      io.note(`Logged in to ${credentials.url}. The credentials are in ${credentialsFile(io.env)}`)
    },
  },
  {
    usage: 'logout',
    summary: 'End the session and remove stored credentials',
    description: 'Ends the stored session, and removes stored credentials. An API key stays valid until it is deleted.',
    async run({ io }) {
      const stored = readCredentials(io.env)
      if (stored?.session) await endSession(io, stored)
      removeCredentials(io.env)
      io.note('Logged out.')
    },
  },
]

async function readLogin(io: Io, { email, url: given }: LoginOptions): Promise<Credentials> {
  const url = given ?? readVariable(io, 'POSTONCE_URL') ?? readCredentials(io.env)?.url
  if (url === undefined) throw new CliError('Name the service: postonce login --url https://...', EXIT.usage)
  assertServiceUrl(url)
  const secret = await readSecret(io, email === undefined ? 'API key: ' : 'Password: ')
  if (email === undefined) return { url, apiKey: secret }
  return { url, session: await logIn({ url, email, password: secret }) }
}

/** Makes one request with the credentials. A key without the scope for it is valid as well. */
async function checkCredentials(io: Io, credentials: Credentials): Promise<void> {
  const client = openStored(io, credentials)
  await client.accounts.list({ signal: io.signal }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'INSUFFICIENT_SCOPE') throw error
  })
}

/** The session may have ended already. */
async function endSession(io: Io, stored: Credentials): Promise<void> {
  await openStored(io, stored)
    .request('DELETE', '/api/auth/logout', { signal: io.signal })
    .catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
    })
}
