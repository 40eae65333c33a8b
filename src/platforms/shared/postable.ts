import type { Platform } from '../../domain/shared/platforms.ts'
import type { Content } from '../../domain/posts/post.ts'
import type { PostingRules } from '../../domain/posts/posting-rules.ts'
import { checkContent } from '../../domain/posts/preflight.ts'
import { PlatformError } from '../errors.ts'

/**
 * What the platform would refuse in the end, told before anything is uploaded.
 * @throws PlatformError `validation`
 */
export function assertPostable(platform: Platform, content: Content, rules: PostingRules): void {
  const [problem] = checkContent(platform, content, rules)
  if (problem) throw new PlatformError('validation', problem.message, { certain: true })
}
