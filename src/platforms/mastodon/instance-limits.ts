import { raceAbort } from '../../deadlines.ts'
import { POSTING_RULES, type PostingRules, type TextLimit } from '../../domain/posts/posting-rules.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions } from '../contract.ts'
import { readInstance, type Instance } from './responses.ts'
import type { Api } from './api.ts'

export interface InstanceLimits {
  rules: PostingRules
  /** The image types that the instance accepts; others are converted. */
  imageTypes: readonly string[]
  imagePixels: number
  /** True when a repeat with the same `Idempotency-Key` publishes nothing. */
  honoursKeys: boolean
}

const LIFE_MS = HOUR
const RETRY_AFTER_MS = MINUTE
const TIMEOUT_MS = 5 * SECOND
/** Mastodon's default. */
const DEFAULT_IMAGE_PIXELS = 33_177_600

/**
 * Reads the limits of the instance hourly. Without an answer, the previous limits or Mastodon's defaults apply. Once
 * known, callers never wait for a refresh.
 */
export function createInstanceLimits(api: Api) {
  let known: InstanceLimits = {
    ...toInstanceLimits({ version: DEFAULT_VERSION, configuration: {} }),
    honoursKeys: false,
  }
  let refreshAt = 0
  let hasAnswered = false
  let refreshing: Promise<void> | null = null

  async function refresh(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      known = toInstanceLimits((await api.get('/api/v2/instance', {}, readInstance, { signal })).body)
      refreshAt = Date.now() + LIFE_MS
      hasAnswered = true
    } catch {
      refreshAt = Date.now() + RETRY_AFTER_MS
    } finally {
      refreshing = null
    }
  }

  return async function current({ signal }: CallOptions): Promise<InstanceLimits> {
    signal.throwIfAborted()
    if (Date.now() < refreshAt) return known
    refreshing ??= refresh()
    // An abort ends the wait; the caller then gets the default limits.
    if (!hasAnswered) await raceAbort(refreshing, signal).catch(() => undefined)
    return known
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

type Configuration = Instance['configuration']

function toInstanceLimits({ version = '', configuration }: Instance): InstanceLimits {
  const { statuses = {}, media_attachments: files = {} } = configuration
  const isMastodon = OWN_VERSION.test(version)
  const defaults = POSTING_RULES.mastodon
  const { image, video } = defaults.media
  const types = files.supported_mime_types
  const max = statuses.max_media_attachments ?? defaults.media.max
  const imageTypes = types ? image.types.filter((type) => types.includes(type)) : image.types
  return {
    rules: {
      text: [toTextLimit(isMastodon, statuses)],
      media: {
        ...defaults.media,
        max,
        // One accepted type is enough, since other types are converted.
        image: {
          max,
          types: imageTypes.length > 0 ? image.types : [],
          maxBytes: files.image_size_limit ?? image.maxBytes,
        },
        video: {
          max: video.max,
          types: types ? video.types.filter((type) => types.includes(type)) : video.types,
          maxBytes: files.video_size_limit ?? video.maxBytes,
        },
      },
      altText: {
        image: files.description_limit ?? defaults.altText.image,
        video: files.description_limit ?? defaults.altText.video,
      },
    },
    imageTypes,
    imagePixels: files.image_matrix_limit ?? DEFAULT_IMAGE_PIXELS,
    honoursKeys: isMastodon,
  }
}

/** Other servers count code points and full links, or less. A text that fits this limit fits all of them. */
function toTextLimit(
  isMastodon: boolean,
  {
    max_characters: max = DEFAULT_TEXT.max,
    characters_reserved_per_url: linkLength,
  }: NonNullable<Configuration['statuses']>,
): TextLimit {
  if (!isMastodon) return { unit: 'codePoints', max }
  return {
    unit: DEFAULT_TEXT.unit,
    max,
    ...(linkLength !== undefined && linkLength !== DEFAULT_LINK_LENGTH && { linkLength }),
  }
}
