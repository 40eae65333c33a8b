import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readJson, writeJson } from '../json-file.ts'
import { PdsCallError, type PdsClient } from './pds-client.ts'

export interface BlueskyAccount {
  did: string
  handle: string
  email: string
  password: string
  appPassword: string
}

/** An account in creation: its credentials, in case the process is killed before it is done. */
type PlannedAccount = Pick<BlueskyAccount, 'handle' | 'email' | 'password'>

/** Creates accounts on the server and stores them, so that the same handle is the same account after a restart. */
export function createAccountMaker(dir: string, pds: PdsClient) {
  const path = join(dir, 'accounts.json')
  const accounts = readJson<Record<string, PlannedAccount | BlueskyAccount>>(path, {})

  function remember<T extends PlannedAccount>(account: T): T {
    accounts[account.handle] = account
    writeJson(path, accounts)
    return account
  }

  return async function createAccount({ handle }: { handle: string }): Promise<BlueskyAccount> {
    const known = accounts[handle]
    if (known && 'appPassword' in known) return known
    const planned = known ?? remember(plan(handle))
    const { did, accessJwt } = known ? await logInOrSignUp(pds, planned) : await signUp(pds, planned)
    const app = (await pds.call('POST', 'com.atproto.server.createAppPassword', {
      body: { name: `postonce ${randomBytes(3).toString('hex')}` },
      authorization: `Bearer ${accessJwt}`,
    })) as { password: string }
    return remember({ ...planned, did, appPassword: app.password })
  }
}

function plan(handle: string): PlannedAccount {
  return {
    handle,
    email: `${handle.replaceAll('.', '-')}@example.com`,
    password: randomBytes(12).toString('base64url'),
  }
}

interface Session {
  did: string
  accessJwt: string
}

async function logInOrSignUp(pds: PdsClient, planned: PlannedAccount): Promise<Session> {
  const body = { identifier: planned.handle, password: planned.password }
  try {
    return (await pds.call('POST', 'com.atproto.server.createSession', { body })) as Session
  } catch (error) {
    if (error instanceof PdsCallError && error.status === 401) return signUp(pds, planned)
    throw error
  }
}

async function signUp(pds: PdsClient, planned: PlannedAccount): Promise<Session> {
  return (await pds.call('POST', 'com.atproto.server.createAccount', { body: { ...planned } })) as Session
}
