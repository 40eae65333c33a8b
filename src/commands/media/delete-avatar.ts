import { identicon } from '../../domain/users/identicon.ts'
import { replaceAvatar, type ReplaceAvatarDeps } from './replace-avatar.ts'

/** Goes back to the picture that every user begins with. */
export function deleteAvatar(deps: ReplaceAvatarDeps, userId: string): Promise<void> {
  return replaceAvatar(deps, userId, identicon(userId))
}
