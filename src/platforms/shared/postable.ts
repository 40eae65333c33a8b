import type { Platform } from '../../domain/shared/platforms.ts'
import type { PostingRules } from '../../domain/posts/posting-rules.ts'
import { checkContent, toPartRules } from '../../domain/posts/preflight.ts'
import type { OutgoingPost } from '../contract.ts'
import { PlatformError } from '../errors.ts'

/**
 * Checks a part against the platform's rules before anything is uploaded.
 * @throws PlatformError `validation`
 */
export function assertPostable(
  platform: Platform,
  { kind, content }: Pick<OutgoingPost, 'kind' | 'content'>,
  rules: PostingRules,
): void {
  const [problem] = checkContent(platform, content, toPartRules(kind, rules))
  if (problem) throw new PlatformError('validation', problem.message, { certain: true })
}
