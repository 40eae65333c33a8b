import { SECOND } from '../domain/times.ts'
import type { Platform } from '../domain/platforms.ts'
import type { PlatformAdapter } from './adapter.ts'
import { PlatformError } from './errors.ts'

type Step = 'prepare' | 'publish' | 'reconcile'

/** Who counts what the adapters did. */
interface Figures {
  platformStep(platform: Platform, step: Step, seconds: number): void
  platformFailed(platform: Platform, step: Step, errorClass: string): void
  reconciled(platform: Platform, result: 'found' | 'absent' | 'undecidable' | 'error'): void
}

interface Registry {
  find(platform: Platform): PlatformAdapter | null
}

/** The same platforms, with every step of a delivery counted and timed. */
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

  async function timed<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work()
    } catch (error) {
      figures.platformFailed(platform, step, error instanceof PlatformError ? error.class : 'other')
      throw error
    } finally {
      figures.platformStep(platform, step, (performance.now() - startedAt) / SECOND)
    }
  }

  return {
    ...adapter,
    prepare: (...args) => timed('prepare', () => adapter.prepare(...args)),
    publish: (...args) => timed('publish', () => adapter.publish(...args)),
    async reconcile(...args) {
      try {
        const found = await timed('reconcile', () => adapter.reconcile(...args))
        figures.reconciled(platform, typeof found === 'string' ? found : 'found')
        return found
      } catch (error) {
        figures.reconciled(platform, 'error')
        throw error
      }
    },
  }
}
