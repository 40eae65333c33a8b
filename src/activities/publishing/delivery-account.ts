import type { ChooseAccount } from '../../commands/accounts/account-credentials.ts'
import { findAccountFor } from '../../domain/accounts/selection.ts'
import type { PlatformStatus, Post } from '../../domain/posts/post.ts'

/** Chooses the account that an entry of a post is published with. */
export function chooseForEntry({
  post,
  entry,
}: {
  post: Pick<Post, 'platformStatuses'>
  entry: PlatformStatus
}): ChooseAccount {
  return (accounts) => findAccountFor(entry, post.platformStatuses, accounts)
}
