import { nameTaken } from '../shared/consent.ts'
import type { Account, State } from './state.ts'

export interface NewAccount {
  username: string
  name?: string
  isUnlinked?: boolean
}

const USERNAME = /^[\w.]{1,30}$/

export function createAccounts({ accounts, newId }: Pick<State, 'accounts' | 'newId'>) {
  const named = (username: string) => accounts.values().find((account) => account.username === username)

  function add(username: string, name: string, isUnlinked = false): Account {
    const id = newId()
    return accounts.set(id, { id, username, name, ...(isUnlinked && { isUnlinked }) })
  }

  return {
    find: accounts.get,
    /** Returns the account with this user name, created if needed. */
    ensure: ({ username, name = '', isUnlinked = false }: NewAccount): Account =>
      named(username) ?? add(username, name, isUnlinked),
    create: (username: string): Account => add(username, username),
    problemOf(username: string): string | null {
      if (!USERNAME.test(username)) return 'A user name has up to 30 letters, digits, _ and periods'
      return named(username) ? nameTaken(username) : null
    },
  }
}

export type Accounts = ReturnType<typeof createAccounts>
