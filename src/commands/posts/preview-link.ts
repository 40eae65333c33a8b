import { PageUnavailableError } from '../../domain/posts/link.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { CommandContext } from '../context.ts'

/**
 * Returns the card of a page as it is now. Nothing is stored.
 * @throws ServiceError LINK_UNREADABLE, RATE_LIMITED
 */
export async function previewLink(
  deps: Pick<CommandContext, 'pages' | 'limits'>,
  { userId, url }: { userId: string; url: string },
  signal: AbortSignal,
) {
  await deps.limits.linkPreview.take(userId)
  try {
    return await deps.pages.describe(url, { userId, signal })
  } catch (error) {
    if (!(error instanceof PageUnavailableError)) throw error
    throw new ServiceError(
      'LINK_UNREADABLE',
      `The page ${error.message}. Check the address, or write the card yourself.`,
      {
        cause: error,
      },
    )
  }
}
