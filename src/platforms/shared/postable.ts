import type { Platform } from '../../domain/shared/platforms.ts'
import type { Content } from '../../domain/posts/post.ts'
import type { PostingRules } from '../../domain/posts/posting-rules.ts'
import { checkContent } from '../../domain/posts/preflight.ts'
import { PlatformError } from '../errors.ts'

/**
 * Checks the content against the platform's rules before anything is uploaded.
 * @throws PlatformError `validation`
 */
export function assertPostable(platform: Platform, content: Content, rules: PostingRules): void {
  const [problem] = checkContent(platform, content, rules)
  if (problem) throw new PlatformError('validation', problem.message, { certain: true })
}
