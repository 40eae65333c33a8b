import type { Post } from './post.ts'

/** What an armed delivery depends on. The revision also changes when another platform of the post stores what it prepared. */
export type ArmedFields = Pick<
  Post,
  '_id' | 'userId' | 'status' | 'dueAt' | 'contentVersion' | 'selectedPlatforms' | 'selectedAccounts' | 'groups'
>

/** Returns true when a delivery that was armed with `before` must read its post again. */
export function hasChangedWhileArmed(before: ArmedFields, now: ArmedFields): boolean {
  return (
    now.status === 'CANCELLED' ||
    before.dueAt?.getTime() !== now.dueAt?.getTime() ||
    before.contentVersion !== now.contentVersion ||
    before.selectedPlatforms.join() !== now.selectedPlatforms.join() ||
    before.selectedAccounts?.join() !== now.selectedAccounts?.join() ||
    listGroupAccounts(before).join() !== listGroupAccounts(now).join()
  )
}

const listGroupAccounts = ({ groups = [] }: ArmedFields): string[] => groups.flatMap(({ accountIds }) => accountIds)
