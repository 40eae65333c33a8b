import { raceAbort } from '../../flow/deadlines.ts'
import { POSTING_RULES, type PostingRules, type TextLimit } from '../../domain/posts/posting-rules.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, PlatformFacts } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { readStoredStatements, toStatements, type InstanceStatements } from './instance-statements.ts'
import { readInstance, readV1Instance, type Instance } from './responses.ts'
import type { Api } from './api.ts'

export interface InstanceLimits {
  rules: PostingRules
  /** The image types that the instance accepts; others are converted. */
  imageTypes: readonly string[]
  imagePixels: number
  /** True when a repeat with the same `Idempotency-Key` publishes nothing. */
  honoursKeys: boolean
}

/** Where the limits of servers that users named are stored; the operator's instance needs no storage. */
type Storage = PlatformFacts | null

const LIFE_MS = HOUR
const STORED_LIFE_MS = DAY
const RETRY_AFTER_MS = MINUTE
const TIMEOUT_MS = 5 * SECOND
/** Mastodon's default. */
const DEFAULT_IMAGE_PIXELS = 33_177_600

/**
 * Reads the limits of the instance: hourly, or daily where they are stored for all processes. Without an answer, the
 * previous limits or Mastodon's defaults apply. Once known, callers never wait for a refresh.
 */
export function createInstanceLimits(api: Api, storage: Storage = null) {
  const factName = `mastodon/${api.base}/instance`
  const lifeMs = storage ? STORED_LIFE_MS : LIFE_MS
  let known: InstanceLimits = {
    ...toInstanceLimits({ version: DEFAULT_VERSION }),
    honoursKeys: false,
  }
  let refreshAt = 0
  let isLoaded = false
  let refreshing: Promise<void> | null = null

  async function refresh(): Promise<void> {
    try {
      if (!isLoaded) await load()
      if (Date.now() < refreshAt) return
      const read = { statements: toStatements(await fetchInstance(api)), readAt: Date.now() }
      apply(read)
      // In the background: the next refresh repeats it.
      storage?.save(factName, JSON.stringify(read)).catch(() => undefined)
    } catch {
      refreshAt = Date.now() + RETRY_AFTER_MS
    } finally {
      refreshing = null
    }
  }

  async function load(): Promise<void> {
    const stored = readStoredStatements((await storage?.find(factName)) ?? '')
    if (stored) apply(stored)
  }

  function apply({ statements, readAt }: { statements: InstanceStatements; readAt: number }): void {
    known = toInstanceLimits(statements)
    refreshAt = Math.min(readAt, Date.now()) + lifeMs
    isLoaded = true
  }

  return async function current({ signal }: CallOptions): Promise<InstanceLimits> {
    signal.throwIfAborted()
    if (Date.now() < refreshAt) return known
    refreshing ??= refresh()
    // An abort ends the wait; the caller then gets the default limits.
    if (!isLoaded) await raceAbort(refreshing, signal).catch(() => undefined)
    return known
  }
}

/** Reads the document of Mastodon since 4.0, or the older one from servers without it. */
async function fetchInstance(api: Api): Promise<Instance> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return (await api.get('/api/v2/instance', {}, readInstance, { signal })).body
  } catch (error) {
    if (!(error instanceof PlatformError && error.answered)) throw error
    return (await api.get('/api/v1/instance', {}, readV1Instance, { signal })).body
  }
}

/**
 * Mastodon and its forks report a plain version. Other servers of its API report one below 1, include their name
 * ("2.7.2 (compatible; Pleroma 2.6.0)"), or omit it. At least one such server accepts the idempotency key and ignores it.
 */
const OWN_VERSION = /^[1-9]\d*\.\d+\.\d+[\w.+-]*$/
const DEFAULT_VERSION = '4.0.0'
const [DEFAULT_TEXT] = POSTING_RULES.mastodon.text
const DEFAULT_LINK_LENGTH = 23

function toInstanceLimits(statements: InstanceStatements): InstanceLimits {
  const { version, mediaTypes, descriptionLength } = statements
  const isMastodon = OWN_VERSION.test(version)
  const defaults = POSTING_RULES.mastodon
  const { image, video } = defaults.media
  const max = statements.maxMedia ?? defaults.media.max
  const imageTypes = mediaTypes ? image.types.filter((type) => mediaTypes.includes(type)) : image.types
  return {
    rules: {
      ...defaults,
      text: [toTextLimit(isMastodon, statements)],
      media: {
        ...defaults.media,
        max,
        // One accepted type is enough, since other types are converted.
        image: {
          max,
          types: imageTypes.length > 0 ? image.types : [],
          maxBytes: statements.imageBytes ?? image.maxBytes,
        },
        video: {
          ...video,
          types: mediaTypes ? video.types.filter((type) => mediaTypes.includes(type)) : video.types,
          maxBytes: statements.videoBytes ?? video.maxBytes,
          ...(statements.videoPixels !== undefined && { pixels: statements.videoPixels }),
          ...(statements.videoFrameRate !== undefined && { frameRate: { max: statements.videoFrameRate } }),
        },
      },
      altText: {
        image: descriptionLength ?? defaults.altText.image,
        video: descriptionLength ?? defaults.altText.video,
      },
    },
    imageTypes,
    imagePixels: statements.imagePixels ?? DEFAULT_IMAGE_PIXELS,
    honoursKeys: isMastodon,
  }
}

/** Other servers count code points and full links, or less. A text that fits this limit fits all of them. */
function toTextLimit(
  isMastodon: boolean,
  { maxCharacters: max = DEFAULT_TEXT.max, charactersPerLink: linkLength }: InstanceStatements,
): TextLimit {
  if (!isMastodon) return { unit: 'codePoints', max }
  return {
    unit: DEFAULT_TEXT.unit,
    max,
    ...(linkLength !== undefined && linkLength !== DEFAULT_LINK_LENGTH && { linkLength }),
  }
}
