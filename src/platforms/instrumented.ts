import { SECOND } from '../domain/shared/times.ts'
import type { Platform } from '../domain/shared/platforms.ts'
import { ANY_MEDIA, nameMedia } from '../domain/posts/media-name.ts'
import { maskEchoes } from '../domain/posts/platform-reason.ts'
import type { Credentials, OutgoingPost, PlatformAdapter, NotFoundResult } from './contract.ts'
import { PlatformError } from './errors.ts'

type Step = 'prepare' | 'publish' | 'reconcile'

/** Records the steps of a delivery. */
interface StepRecorder {
  platformStep(platform: Platform, step: Step, seconds: number): void
  platformFailed(platform: Platform, step: Step, errorClass: string): void
  reconciled(platform: Platform, result: 'found' | NotFoundResult | 'error'): void
}

interface Registry {
  find(platform: Platform): PlatformAdapter | null
}

/**
 * Returns the same platforms with every step of a delivery counted and timed. Their errors contain no secrets and no
 * post text, and name the files that the post has.
 */
export function instrumentPlatforms<R extends Registry>(registry: R, recorder: StepRecorder): R {
  const instrumented = new Map<PlatformAdapter, PlatformAdapter>()
  return {
    ...registry,
    find(platform: Platform): PlatformAdapter | null {
      const adapter = registry.find(platform)
      if (!adapter) return null
      const known = instrumented.get(adapter) ?? instrument(adapter, recorder)
      instrumented.set(adapter, known)
      return known
    },
  }
}

function instrument(adapter: PlatformAdapter, recorder: StepRecorder): PlatformAdapter {
  const { platform } = adapter

  async function record<T>(
    step: Step,
    [post, account]: [OutgoingPost, Credentials, ...unknown[]],
    work: () => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work()
    } catch (error) {
      recorder.platformFailed(platform, step, error instanceof PlatformError ? error.class : 'other')
      throw error instanceof PlatformError ? adaptToPost(error, post, account) : error
    } finally {
      recorder.platformStep(platform, step, (performance.now() - startedAt) / SECOND)
    }
  }

  return {
    ...adapter,
    prepare: (...args) => record('prepare', args, () => adapter.prepare(...args)),
    publish: (...args) => record('publish', args, () => adapter.publish(...args)),
    async reconcile(...args) {
      try {
        const found = await record('reconcile', args, () => adapter.reconcile(...args))
        recorder.reconciled(platform, typeof found === 'string' ? found : 'found')
        return found
      } catch (error) {
        recorder.reconciled(platform, 'error')
        throw error
      }
    },
    ...(adapter.planEdit && {
      async planEdit(id, post, account, options) {
        const adapt = (error: unknown) => {
          throw error instanceof PlatformError ? adaptToPost(error, post, account) : error
        }
        const call = await adapter.planEdit!(id, post, account, options).catch(adapt)
        return call && (() => call().catch(adapt))
      },
    }),
  }
}

/** Lists the texts that a platform may echo in its response and that logs and histories must not store. */
function listSecrets({ content }: OutgoingPost, { accessToken, tokenSecret, refreshToken }: Credentials): string[] {
  const ofFiles = content.mediaItems.flatMap(({ altText, originalFilename }) => [altText, originalFilename])
  return [accessToken, tokenSecret, refreshToken, content.text, ...ofFiles].filter((text) => text !== undefined)
}

function adaptToPost(error: PlatformError, post: OutgoingPost, account: Credentials): PlatformError {
  if (error.platformReason) error.platformReason = maskEchoes(error.platformReason, listSecrets(post, account))
  error.message = error.message.replace(ANY_MEDIA, nameMedia(post.content))
  return error
}
