import { nameTaken } from '../shared/consent.ts'
import type { Account, State } from './state.ts'

export interface NewAccount {
  username: string
  displayName?: string
  /** The profile text as HTML. */
  note?: string
}

const USERNAME = /^\w{1,30}$/

export function createAccounts({ accounts, newId }: Pick<State, 'accounts' | 'newId'>) {
  const named = (username: string) => accounts.values().find((account) => account.username === username)

  function add({ username, displayName = '', note = '' }: NewAccount): Account {
    const id = newId()
    return accounts.set(id, { id, username, displayName, note, createdAt: new Date().toISOString() })
  }

  return {
    find: accounts.get,
    /** Returns the account with this user name, created if needed. */
    ensure: (input: NewAccount): Account => named(input.username) ?? add(input),
    create: (username: string): Account => add({ username }),
    problemOf(username: string): string | null {
      if (!USERNAME.test(username)) return 'A user name has up to 30 letters, digits and _'
      return named(username) ? nameTaken(username) : null
    },
  }
}

export type Accounts = ReturnType<typeof createAccounts>
