import { fitCaptions, type CaptionInput } from '../../domain/captions/captions.ts'
import { getAllowance, toLimitError, type Allowance } from '../../domain/billing/plans.ts'
import type { Limits, Usage } from '../../domain/billing/subscription.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { loadCurrentRules } from '../posts/current-rules.ts'
import type { CommandContext } from '../context.ts'

interface GenerateCaptions extends CaptionInput {
  /** As authenticated for this request. */
  user: { userId: string; usage: Usage; limits: Limits }
  /** Data URLs. */
  media: string[]
}

/**
 * Generates captions for a post with the configured provider. Only a successful generation counts, and it is counted last, on
 * the condition that the plan still allows it. A failing provider or a crash uses up nothing. Concurrent generations never
 * exceed the limit; those beyond it are refused after the fact.
 * @throws ServiceError VALIDATION_FAILED, CAPTION_LIMIT_REACHED, RATE_LIMITED, CAPTION_PROVIDER_FAILED, CAPTION_REFUSED
 */
export async function generateCaptions(
  deps: CommandContext,
  { user, media, ...captionInput }: GenerateCaptions,
  { signal }: { signal: AbortSignal },
): Promise<{ captions: string[]; usage: Allowance }> {
  const pictures = await readPictures(deps, media)
  const before = getAllowance('captions', user)
  if (before.used >= before.limit) throw toLimitError('captions', before)

  const { userId } = user
  await deps.limits.captions.take(userId)
  const captions = await undoOnError(
    () => generate(deps, captionInput, pictures, signal),
    () => deps.limits.captions.refund(userId),
    deps,
  )
  const { taken, ...usage } = await deps.users.takeAllowance('captions', userId)
  if (!taken) throw toLimitError('captions', usage)
  return { captions, usage }
}

async function generate(
  deps: CommandContext,
  captionInput: CaptionInput,
  pictures: { type: string; bytes: Uint8Array }[],
  signal: AbortSignal,
): Promise<string[]> {
  const { platform } = captionInput
  const rules = platform && (await loadCurrentRules(deps, [platform]))[platform]
  const generated = await deps.captions.generate({ ...captionInput, pictures, rules }, { signal })
  const captions = fitCaptions(generated, platform, rules)
  if (captions.length === 0) {
    throw new ServiceError('CAPTION_PROVIDER_FAILED', 'The caption provider returned no usable captions. Try again.')
  }
  return captions
}

/** Runs `undo` when `work` fails, and rethrows the error of `work`. */
async function undoOnError<T>(
  work: () => Promise<T>,
  undo: () => Promise<void>,
  { logger }: CommandContext,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await undo().catch((err: unknown) => logger.warn({ err }, 'caption allowance refund failed'))
    throw error
  }
}

/** Decodes the pictures, which must satisfy the rules for avatars. */
async function readPictures({ avatars, largeTexts }: CommandContext, media: string[]) {
  const decoded = await largeTexts.readDataUrls(media)
  const problems = await Promise.all(
    decoded.map(async (picture, index): Promise<Problem | null> => {
      const message = picture ? await avatars.findPictureProblem(picture) : 'must be a data URL in base64'
      if (message === null) return null
      return {
        path: `media.${index}`,
        code: 'MEDIA_NOT_ALLOWED',
        message: `The picture ${message}. Choose another one.`,
      }
    }),
  )
  const found = problems.filter((problem) => problem !== null)
  if (found.length > 0) throw validationFailed(found)
  return decoded.filter((picture) => picture !== null)
}
