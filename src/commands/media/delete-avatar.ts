import { identicon } from '../../domain/users/identicon.ts'
import { replaceAvatar, type ReplaceAvatarDeps } from './replace-avatar.ts'

/** Restores the default avatar. */
export function deleteAvatar(deps: ReplaceAvatarDeps, userId: string): Promise<void> {
  return replaceAvatar(deps, userId, identicon(userId))
}
