import { MediaUnavailableError } from '../../domain/posts/failure.ts'
import { findCardLink, PageUnavailableError } from '../../domain/posts/link.ts'
import type { LinkCard } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { raceAbort } from '../../flow/deadlines.ts'
import type { CallOptions, Checkpoints, Credentials, OutgoingPost, PageDescription, PageSource } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { convertImage } from '../shared/image-files.ts'
import type { PreparedImage } from '../shared/images.ts'
import type { Images } from './images.ts'
import type { Card } from './record.ts'
import { readSaved } from './saved.ts'
import { isRecent, type StoredUpload } from './uploads.ts'

interface CardDeps {
  /** Absent: posts are published without cards, unless their author has written one. */
  pages: PageSource | undefined
  images: Images
}

/** The checkpoint of the card of a post. */
interface StoredCard {
  /** Absent where the post is published without one. */
  card?: Omit<Card, 'thumb'> & { thumb?: StoredUpload }
  /** The image of the page, from which the thumb is made again once the server has deleted it. */
  imageUrl?: string
  /** A sentence for users about what the post lacks. */
  warning?: string
}

interface Run {
  link: LinkCard
  account: Credentials
  options: CallOptions
  /** Aborts `options.signal`, or when a page takes too long. */
  brief: AbortSignal
}

const CARD = 'card'
/** For the page and its image together: the post is due within seconds, and a card is worth no delay. */
const BUDGET_MS = 6 * SECOND
/** https://docs.bsky.app/docs/advanced-guides/posts#website-card-embeds */
const THUMB_LIMITS = { maxBytes: 1_000_000, types: ['image/jpeg'] }

/**
 * Makes the card of the link in a post before the post is due. The first result is stored, also that there is no card, so that every call
 * of the delivery writes an equal record.
 */
export function createCards({ pages, images }: CardDeps) {
  async function prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions) {
    const link = findLink(post)
    if (!link) return
    const known = readSaved<StoredCard>(checkpoints, CARD)
    const { thumb } = known?.card ?? {}
    if (known && (!thumb || isRecent(thumb))) return
    const run = { link, account, options, brief: AbortSignal.any([options.signal, AbortSignal.timeout(BUDGET_MS)]) }
    await checkpoints.save(CARD, JSON.stringify(known ? await addThumb(known, run) : await create(run)))
  }

  /** Bluesky shows images, a video or a card. */
  function findLink({ link = 'auto', content }: OutgoingPost): LinkCard | null {
    const found = content.mediaItems.length > 0 ? null : findCardLink(link, content.text)
    return pages || found?.title !== undefined ? found : null
  }

  async function create(run: Run): Promise<StoredCard> {
    const { url, title, description, image } = run.link
    let page: PageDescription | null = null
    let warning: string | undefined
    if (pages && (title === undefined || description === undefined || !image)) {
      try {
        page = await pages.describe(url, toReading(run))
      } catch (error) {
        const problem = toProblem(error, run)
        if (title === undefined)
          return { warning: `Bluesky published the post without the card of its link: the page ${problem}.` }
        warning = `Bluesky published the card of the link as you wrote it, because the page ${problem}.`
      }
    }
    const card = { uri: url, title: title ?? page!.title, description: description ?? page?.description ?? '' }
    const imageUrl = image ? null : (page?.imageUrl ?? null)
    return addThumb({ card, ...(imageUrl !== null && { imageUrl }), ...(warning !== undefined && { warning }) }, run)
  }

  async function addThumb(stored: StoredCard, run: Run): Promise<StoredCard> {
    const { thumb: _, ...card } = stored.card!
    const withoutThumb = (problem: string): StoredCard => {
      return { ...stored, card, warning: `Bluesky published the card of the link without its image, which ${problem}.` }
    }
    let image: PreparedImage | null
    try {
      image = await raceAbort(loadThumb(stored, run), run.brief)
    } catch (error) {
      return withoutThumb(toProblem(error, run))
    }
    if (!image) return { ...stored, card }
    try {
      return { ...stored, card: { ...card, thumb: await images.upload(image, run.account, run.options) } }
    } catch (error) {
      if (error instanceof PlatformError && error.class === 'validation') return withoutThumb('it did not accept')
      throw error
    }
  }

  /** Returns null when the card has no image. */
  async function loadThumb({ imageUrl }: StoredCard, run: Run): Promise<PreparedImage | null> {
    const { image } = run.link
    if (image) return images.loadItem(image, THUMB_LIMITS, toReading(run))
    if (imageUrl === undefined || !pages) return null
    const reading = toReading(run)
    return convertImage(await pages.readImage(imageUrl, reading), THUMB_LIMITS, reading)
  }

  return {
    prepare,

    /** Returns the prepared card; null when the post has none. */
    find(checkpoints: Pick<Checkpoints, 'get'>): Card | null {
      const { card } = readSaved<StoredCard>(checkpoints, CARD) ?? {}
      if (!card) return null
      const { thumb, ...texts } = card
      return { ...texts, ...(thumb?.blob && { thumb: thumb.blob }) }
    },

    /** Returns a sentence for users about what the post lacks; undefined when it lacks nothing. */
    findWarning: (checkpoints: Pick<Checkpoints, 'get'>): string | undefined =>
      readSaved<StoredCard>(checkpoints, CARD)?.warning,

    /** Makes the next preparation upload the image again. */
    async forgetThumb(checkpoints: Checkpoints): Promise<void> {
      const known = readSaved<StoredCard>(checkpoints, CARD)
      if (!known?.card?.thumb) return
      const thumb = { ...known.card.thumb, uploadedAt: 0 }
      await checkpoints.save(CARD, JSON.stringify({ ...known, card: { ...known.card, thumb } } satisfies StoredCard))
    },
  }
}

const toReading = ({ account, brief }: Run) => ({ userId: account.userId ?? '', signal: brief })

/**
 * Returns why a page or an image is missing, as the end of a sentence.
 * @throws the error itself when it is about the attempt, or unexpected
 */
function toProblem(error: unknown, { options, brief }: Run): string {
  options.signal.throwIfAborted()
  if (error instanceof PageUnavailableError) return error.message
  if (brief.aborted) return 'did not answer in time'
  if (error instanceof MediaUnavailableError || error instanceof PlatformError) return 'could not be converted'
  throw error
}
