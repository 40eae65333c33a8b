import { identicon } from '../../domain/users/identicon.ts'
import { replaceAvatar } from './replace-avatar.ts'
import type { CommandContext } from '../context.ts'

/** Restores the default avatar. */
export function deleteAvatar(deps: CommandContext, userId: string): Promise<void> {
  return replaceAvatar(deps, userId, identicon(userId))
}
