import mongoose from 'mongoose'
import type * as HttpModule from '../../src/platforms/shared/http.ts'
import type { HttpClient, HttpRequest } from '../../src/platforms/shared/http.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { Random } from '../faults/random.ts'
import type { MemoryStorage, SendCommand } from './memory-database.ts'
import type { PlatformAnswer, PlatformCall, SimulatedPlatform } from './platforms.ts'

/** A fault of a call to a platform. */
export type CallFault =
  | 'lost request'
  | 'lost response'
  | 'truncated response'
  | 'foreign response instead'
  | 'foreign response after'
  | 'server error instead'
  | 'server error after'
  | 'refused'
  | 'throttled'
  | 'late'

/** How a platform that is down meets calls: they are not sent, or a proxy answers. */
export const OUTAGES = ['connection refused', 'bad gateway', 'unavailable'] as const
export type Outage = (typeof OUTAGES)[number]

/** How often things go wrong, each between 0 and 1. */
export interface Odds {
  /** That a call to a platform meets a fault. */
  call: number
  /** That a command to MongoDB reaches it and its response is lost. */
  command: number
  /** That an answer takes seconds. */
  slow: number
}

const CALL_FAULTS: Record<CallFault, number> = {
  'lost request': 2,
  'lost response': 4,
  'truncated response': 2,
  'foreign response instead': 2,
  'foreign response after': 2,
  'server error instead': 2,
  'server error after': 2,
  refused: 4,
  throttled: 1,
  late: 4,
}

/** A call that reached a platform, as the judge reads it. */
export interface LoggedCall {
  platform: string
  receivedAt: string
  text?: string
}

/** One process of the service. What it sends passes here, so that it can end or freeze between any two steps. */
export interface Process {
  readonly name: string
  readonly isUp: boolean
  readonly isFrozen: boolean
  /** Resolves when the process freezes or ends; replaced when it thaws. */
  readonly stopped: Promise<void>
  kill(): void
  freeze(): void
  thaw(): void
  /** Resolves while the process runs. Never, once it has ended. */
  running(): Promise<void>
  send: SendCommand
  createClient: typeof HttpModule.createHttpClient
}

interface WorldOptions {
  random: Random
  odds: Odds
  platforms: SimulatedPlatform[]
  http: typeof HttpModule
  trace(event: string): void
}

/** The servers, the network between them and the processes of the service, and what goes wrong there. */
export function createWorld({ random, odds, platforms, http, trace }: WorldOptions) {
  const storage: MemoryStorage = new Map()
  const calls: LoggedCall[] = []
  let callsWhileDown = 0
  /** When servers worked again after an outage. */
  const returns = new Map<string, Date>()
  const state = { mongo: true, temporal: true, faults: true }
  const down = new Map<Platform, Outage>()
  /** Calls and effects that are on their way. */
  let inFlight = 0

  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const flight = () => (state.faults && random.chance(odds.slow) ? random.between(500, 4_000) : random.between(1, 20))

  function createProcess(name: string): Process {
    let isUp = true
    let frozen: PromiseWithResolvers<void> | null = null
    let stopped = Promise.withResolvers<void>()
    const never = new Promise<never>(() => {})

    async function running(): Promise<void> {
      while (frozen) await frozen.promise
      if (!isUp) await never
    }

    /** Sends a request. What was sent takes effect, whatever becomes of the process. */
    async function exchange<T>(apply: () => T): Promise<T> {
      await running()
      await sleep(flight())
      const result = await attempt(apply)
      await sleep(flight())
      await running()
      return result()
    }

    return {
      name,
      running,
      get isUp() {
        return isUp
      },
      get isFrozen() {
        return frozen !== null
      },
      get stopped() {
        return stopped.promise
      },
      kill() {
        if (!isUp) return
        trace(`${name} is killed`)
        isUp = false
        frozen?.resolve()
        frozen = null
        stopped.resolve()
      },
      freeze() {
        if (!isUp || frozen) return
        trace(`${name} freezes`)
        frozen = Promise.withResolvers()
        stopped.resolve()
      },
      thaw() {
        if (!frozen) return
        trace(`${name} thaws`)
        frozen.resolve()
        frozen = null
        stopped = Promise.withResolvers()
      },
      async send(command, apply) {
        await running()
        if (!state.mongo) {
          await sleep(5_000)
          await running()
          throw new mongoose.mongo.MongoNetworkError('the server is down')
        }
        return exchange(() => {
          if (!state.mongo) throw new mongoose.mongo.MongoNetworkError('the server is down')
          const result = apply()
          if (!state.faults || !random.chance(odds.command)) return result
          trace(`${name}: the response to "${command}" is lost`)
          throw new mongoose.mongo.MongoNetworkError('connection closed')
        })
      },
      createClient: () => createHttp(running),
    }
  }

  /** Keeps an error for the time at which its response arrives. */
  async function attempt<T>(apply: () => T): Promise<() => T> {
    try {
      const result = apply()
      return () => result
    } catch (error) {
      return () => {
        throw error
      }
    }
  }

  function createHttp(running: () => Promise<void>): HttpClient {
    return {
      warm: () => {},
      open: () => Promise.reject(new Error('The simulated platforms serve no files')),
      close: async () => {},
      async send(request: HttpRequest) {
        await running()
        const signal = AbortSignal.any([
          request.signal,
          AbortSignal.timeout(request.timeoutMs ?? http.TOTAL_TIMEOUT_MS),
        ])
        const toFailure = (sent: boolean, why: string) => new http.HttpFailure(why, { sent, cause: signal.reason })
        if (signal.aborted) throw toFailure(false, 'was not called before the attempt ended')
        const outage = down.get(findPlatform(request).platform)
        if (outage) {
          callsWhileDown += 1
          await sleep(flight())
          if (outage === 'connection refused') throw toFailure(false, 'could not be reached')
          return { status: outage === 'bad gateway' ? 502 : 503, header: () => undefined, text: '<h1>Sorry</h1>' }
        }
        const aborted = new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(toFailure(true, 'did not answer in time')), { once: true })
        })
        aborted.catch(() => {})
        const answer = await Promise.race([reach(request), aborted])
        await running()
        if (!answer) throw toFailure(true, 'closed the connection')
        const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
        return { status: answer.status, header: () => undefined, text }
      },
    }
  }

  const findPlatform = ({ url }: HttpRequest) => platforms.find(({ origin }) => origin === url.origin)!

  /** Delivers a request to its platform. Returns null for a lost response. */
  async function reach(request: HttpRequest): Promise<PlatformAnswer | null> {
    const platform = findPlatform(request)
    const call = toCall(request)
    const text = platform.textOf(call)
    const fault = state.faults && random.chance(odds.call) ? random.weighted(CALL_FAULTS) : null
    const about = `${request.method} ${request.url.pathname}${text === undefined ? '' : ` "${text}"`}`
    if (fault) trace(`${platform.platform}: ${about}: ${fault}`)
    inFlight += 1
    try {
      await sleep(flight())
      return await meet(fault)
    } finally {
      inFlight -= 1
    }

    function arrive(): void {
      const receivedAt = new Date().toISOString()
      calls.push({ platform: platform.platform, receivedAt, ...(text !== undefined && { text }) })
    }

    function act(): PlatformAnswer {
      const answer = platform.handle(call)
      if (text !== undefined) trace(`${platform.platform}: ${about} takes effect: ${answer.status}`)
      return answer
    }

    async function meet(met: CallFault | null): Promise<PlatformAnswer | null> {
      if (met === 'lost request') return null
      arrive()
      const metCall: MetCall = { platform, isVisible: text !== undefined, number: calls.length }
      const instead = met && INSTEAD[met]?.(metCall)
      if (instead) return instead
      // The client gives up long before.
      if (met === 'late') await sleep(random.between(platform.maxLateMs / 50, platform.maxLateMs))
      const answer = act()
      await sleep(flight())
      const after = met && AFTER[met]
      return after ? after(metCall, answer) : answer
    }
  }

  return {
    storage,
    calls,
    returns,
    callsWhileDown: () => callsWhileDown,
    state,
    down,
    sleep,
    createProcess,
    /** Whether nothing is on its way to a platform. */
    isQuiet: () => inFlight === 0,
  }
}

export type World = ReturnType<typeof createWorld>

/** A call that meets a fault. */
interface MetCall {
  platform: SimulatedPlatform
  /** Whether it makes a post visible. */
  isVisible: boolean
  number: number
}

/** The answers of platforms and others in place of the platform's action. */
const INSTEAD: Partial<Record<CallFault, (call: MetCall) => PlatformAnswer>> = {
  'foreign response instead': toForeign,
  'server error instead': ({ platform }) => platform.refuse(500),
  refused: ({ platform }) => platform.refuse(400),
  throttled: ({ platform }) => platform.refuse(429),
}

/** The changed responses to calls that took effect; null: the response is lost. */
const AFTER: Partial<Record<CallFault, (call: MetCall, answer: PlatformAnswer) => PlatformAnswer | null>> = {
  'lost response': () => null,
  'truncated response': (_, { body }) => ({ status: 200, body: JSON.stringify(body).slice(0, -2) }),
  'foreign response after': toForeign,
  // A platform may also say that it does not find what it has just published.
  'server error after': ({ platform, isVisible, number }) => platform.refuse(isVisible && number % 2 === 0 ? 404 : 500),
  late: () => null,
}

function toForeign({ number }: Pick<MetCall, 'number'>): PlatformAnswer {
  const { status, title } = number % 2 === 0 ? { status: 404, title: 'Not found' } : { status: 413, title: 'Too large' }
  return { status, body: `<html><body>${title}</body></html>` }
}

function toCall({ method, url, headers = {}, body }: HttpRequest): PlatformCall {
  return { method, url, headers, body: typeof body === 'string' ? body : '' }
}
