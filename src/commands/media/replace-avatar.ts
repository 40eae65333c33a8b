import type { CommandContext } from '../context.ts'

/** Stores the new avatar, then removes the previous one if it was uploaded here. */
export async function replaceAvatar(deps: CommandContext, userId: string, avatar: string): Promise<void> {
  const previous = await deps.users.replaceAvatar(userId, avatar)
  try {
    if (previous !== null && previous !== avatar) {
      await deps.avatars.remove(userId, previous)
      await restoreIfCurrent(deps, userId, previous)
    }
    await restoreIfCurrent(deps, userId, avatar)
  } catch (error) {
    // The new avatar is stored, and the cleanup removes the old one within days.
    deps.logger.warn({ err: error, userId }, 'previous avatar removal failed')
  }
}

/** Restores an avatar that a concurrent request removed. The last request to check restores it. */
async function restoreIfCurrent({ users, avatars }: CommandContext, userId: string, avatar: string): Promise<void> {
  if (!(await avatars.isMissing(userId, avatar))) return
  const user = await users.findById(userId)
  if (user?.avatar === avatar) await avatars.restore(userId, avatar)
}
