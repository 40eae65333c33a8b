import type { Context } from '../../context.ts'
import { fitCaptions, type CaptionInput } from '../../domain/captions/captions.ts'
import { getAllowance, toLimitError, type Allowance } from '../../domain/billing/plans.ts'
import type { Limits, Usage } from '../../domain/billing/subscription.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { currentRules } from '../posts/current-rules.ts'

type Deps = Pick<Context, 'captions' | 'avatars' | 'largeTexts' | 'users' | 'limits' | 'platforms' | 'logger'>

interface GenerateCaptions extends CaptionInput {
  /** As the request was let in. */
  user: { userId: string; usage: Usage; limits: Limits }
  /** Data URLs. */
  media: string[]
}

/**
 * Captions for a post, by the provider that is set up. Only what is answered counts, and it is counted last, under the condition
 * that the plan still allows it: a provider that fails and a process that dies use up nothing, and generations that run side by side
 * never get past the limit; at the limit the surplus is refused after the fact.
 * @throws ServiceError VALIDATION_FAILED, CAPTION_LIMIT_REACHED, RATE_LIMITED, CAPTION_PROVIDER_FAILED, CAPTION_REFUSED
 */
export async function generateCaptions(
  deps: Deps,
  { user, media, ...wish }: GenerateCaptions,
  { signal }: { signal: AbortSignal },
): Promise<{ captions: string[]; usage: Allowance }> {
  const pictures = await readPictures(deps, media)
  const before = getAllowance('captions', user)
  if (before.used >= before.limit) throw toLimitError('captions', before)

  const { userId } = user
  await deps.limits.captions.take(userId)
  const captions = await ifNot(
    () => generate(deps, wish, pictures, signal),
    () => deps.limits.captions.giveBack(userId),
    deps,
  )
  const { taken, ...usage } = await deps.users.takeAllowance('captions', userId)
  if (!taken) throw toLimitError('captions', usage)
  return { captions, usage }
}

async function generate(
  deps: Deps,
  wish: CaptionInput,
  pictures: { type: string; bytes: Uint8Array }[],
  signal: AbortSignal,
): Promise<string[]> {
  const { platform } = wish
  const rules = platform && (await currentRules(deps, [platform]))[platform]
  const answered = await deps.captions.generate({ ...wish, pictures, rules }, { signal })
  const captions = fitCaptions(answered, platform, rules)
  if (captions.length === 0) {
    throw new ServiceError(
      'CAPTION_PROVIDER_FAILED',
      'The caption provider answered nothing that can be posted, try again',
    )
  }
  return captions
}

/** Undoes when the work fails, which stays the error that is told. */
async function ifNot<T>(
  work: () => Promise<T>,
  undo: () => Promise<void>,
  { logger }: Pick<Deps, 'logger'>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await undo().catch((err: unknown) => logger.warn({ err }, 'a generation that failed stays counted for an hour'))
    throw error
  }
}

/** They have to be what an avatar has to be. */
async function readPictures({ avatars, largeTexts }: Pick<Deps, 'avatars' | 'largeTexts'>, media: string[]) {
  const read = await largeTexts.readDataUrls(media)
  const problems = await Promise.all(
    read.map(async (picture, index): Promise<Problem | null> => {
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
  return read.filter((picture) => picture !== null)
}
