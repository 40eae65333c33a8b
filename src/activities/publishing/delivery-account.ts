import { chooseByPlatformId, type ChooseAccount } from '../../commands/accounts/account-credentials.ts'
import { findAccountFor } from '../../domain/accounts/selection.ts'
import type { PlatformStatus, Post } from '../../domain/posts/post.ts'

interface Delivered {
  post: Pick<Post, 'platformStatuses'>
  entry: PlatformStatus
}

/** Chooses the account that an entry of a post is published with. */
export function chooseForEntry({ post, entry }: Delivered): ChooseAccount {
  return (accounts) => findAccountFor(entry, post.platformStatuses, accounts)
}

/** Chooses the account that the earlier call of an entry was made with, also when it would now be published with another one. */
export function chooseForEarlierCall(delivered: Delivered): ChooseAccount {
  return (...args) =>
    chooseByPlatformId(delivered.entry.delivery.accountId)(...args) ?? chooseForEntry(delivered)(...args)
}
