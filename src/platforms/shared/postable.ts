import type { Platform } from '../../domain/shared/platforms.ts'
import { toMeasuredText } from '../../domain/posts/options.ts'
import { toKindRules, type PostingRules } from '../../domain/posts/posting-rules.ts'
import { checkContent, toPartRules } from '../../domain/posts/preflight.ts'
import type { OutgoingPost } from '../contract.ts'
import { PlatformError } from '../errors.ts'

/**
 * Checks a part against the platform's rules before anything is uploaded.
 * @throws PlatformError `validation`
 */
export function assertPostable(
  platform: Platform,
  { kind, content, options }: Pick<OutgoingPost, 'kind' | 'content' | 'options'>,
  rules: PostingRules,
): void {
  const measuredText = toMeasuredText(platform, content.text, options)
  const [problem] = checkContent(
    platform,
    { ...content, measuredText },
    toPartRules(kind, toKindRules(platform, rules, options)),
  )
  if (problem) throw new PlatformError('validation', problem.message, { certain: true })
}
