import type { MetaState } from './state.ts'
import type { Caller } from './tokens.ts'

/** Whether a login shows a professional account: only while the account is linked to one of the pages of the login. */
export function isShown(state: MetaState, accountId: string, { person, token }: Caller): boolean {
  const isLinked = token.pageIds.some((id) => state.pages.get(id)?.instagramId === accountId)
  return isLinked && state.instagramAccounts.get(accountId)?.personId === person.id
}
