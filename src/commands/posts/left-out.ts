import { resolveContent, type Contents } from '../../domain/posts/content.ts'
import { isLeftOut } from '../../domain/posts/parts.ts'
import type { ChosenAccount } from '../../domain/posts/targets.ts'
import type { Problem } from '../../domain/shared/service-error.ts'

/**
 * Returns the accounts without those that the author leaves out because their platform cannot publish the content (`onUnsupported`), and the
 * problem that none is left.
 */
export function leaveOut<T extends ChosenAccount>(
  chosen: readonly T[],
  contents: Contents,
): { remaining: T[]; problems: Problem[] } {
  const remaining = chosen.filter((one) => !isLeftOut(one.platform, resolveContent(contents, one)))
  if (remaining.length > 0 || chosen.length === 0) return { remaining, problems: [] }
  const message = 'No selected platform can publish this post. Select another one, or set `onUnsupported` to `join`.'
  return { remaining, problems: [{ path: 'content.onUnsupported', code: 'LEFT_OUT', message }] }
}
