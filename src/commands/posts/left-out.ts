import { resolveContent, type Contents } from '../../domain/posts/content.ts'
import { isLeftOut } from '../../domain/posts/parts.ts'
import type { ChosenAccount } from '../../domain/posts/targets.ts'
import { validationFailed } from '../../domain/shared/service-error.ts'

/**
 * Returns the accounts without those that the author leaves out because their platform cannot publish the content (`onUnsupported`).
 * @throws ServiceError VALIDATION_FAILED when none is left
 */
export function withoutLeftOut(chosen: readonly ChosenAccount[], contents: Contents): ChosenAccount[] {
  const left = chosen.filter((one) => !isLeftOut(one.platform, resolveContent(contents, one)))
  if (left.length > 0 || chosen.length === 0) return left
  const message = 'No selected platform can publish this post. Select another one, or set `onUnsupported` to `join`.'
  throw validationFailed([{ path: 'content.onUnsupported', code: 'LEFT_OUT', message }])
}
