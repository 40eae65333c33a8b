import { SECOND } from '../domain/shared/times.ts'
import type { Platform } from '../domain/shared/platforms.ts'
import { maskEchoes } from '../domain/posts/platform-reason.ts'
import type { Credentials, OutgoingPost, PlatformAdapter, Untraced } from './contract.ts'
import { PlatformError } from './errors.ts'

type Step = 'prepare' | 'publish' | 'reconcile'

/** Who counts what the adapters did. */
interface Figures {
  platformStep(platform: Platform, step: Step, seconds: number): void
  platformFailed(platform: Platform, step: Step, errorClass: string): void
  reconciled(platform: Platform, result: 'found' | Untraced | 'error'): void
}

interface Registry {
  find(platform: Platform): PlatformAdapter | null
}

/** The same platforms, with every step of a delivery counted and timed, and with errors that repeat neither secrets nor the post. */
export function observePlatforms<R extends Registry>(registry: R, figures: Figures): R {
  const observed = new Map<PlatformAdapter, PlatformAdapter>()
  return {
    ...registry,
    find(platform: Platform): PlatformAdapter | null {
      const adapter = registry.find(platform)
      if (!adapter) return null
      const known = observed.get(adapter) ?? observe(adapter, figures)
      observed.set(adapter, known)
      return known
    },
  }
}

function observe(adapter: PlatformAdapter, figures: Figures): PlatformAdapter {
  const { platform } = adapter

  async function timed<T>(step: Step, hidden: string[], work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work()
    } catch (error) {
      figures.platformFailed(platform, step, error instanceof PlatformError ? error.class : 'other')
      throw withoutEchoes(error, hidden)
    } finally {
      figures.platformStep(platform, step, (performance.now() - startedAt) / SECOND)
    }
  }

  return {
    ...adapter,
    prepare: (...args) => timed('prepare', hiddenOf(args[0], args[1]), () => adapter.prepare(...args)),
    publish: (...args) => timed('publish', hiddenOf(args[0], args[1]), () => adapter.publish(...args)),
    async reconcile(...args) {
      try {
        const found = await timed('reconcile', hiddenOf(args[0], args[1]), () => adapter.reconcile(...args))
        figures.reconciled(platform, typeof found === 'string' ? found : 'found')
        return found
      } catch (error) {
        figures.reconciled(platform, 'error')
        throw error
      }
    },
  }
}

/** What a platform may repeat in its answer, and nothing of ours may keep: logs and histories hold neither secrets nor words of a post. */
function hiddenOf({ content }: OutgoingPost, { accessToken, tokenSecret, refreshToken }: Credentials): string[] {
  const ofFiles = content.mediaItems.flatMap(({ altText, originalFilename }) => [altText, originalFilename])
  return [accessToken, tokenSecret, refreshToken, content.text, ...ofFiles].filter((text) => text !== undefined)
}

function withoutEchoes(error: unknown, hidden: string[]): unknown {
  if (error instanceof PlatformError && error.platformReason) {
    error.platformReason = maskEchoes(error.platformReason, hidden)
  }
  return error
}
