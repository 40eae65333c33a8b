import type { MediaItem } from '../../domain/posts/post.ts'
import type { CallOptions, Credentials, MediaSource } from '../contract.ts'
import { loadImage } from '../shared/image-files.ts'
import type { ImageLimits, PreparedImage } from '../shared/images.ts'
import { createMediaLimiter } from '../shared/media-limiter.ts'
import { readUploadedBlob } from './responses.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import type { StoredUpload } from './uploads.ts'
import { asAccount, type Xrpc } from './xrpc.ts'

interface ImageDeps {
  /** A separate client, so that uploads never take a connection from a visible call. */
  uploads: Xrpc
  services: ServiceAddresses
  media: MediaSource
}

const IMAGES_IN_MEMORY = 2

/** Uploads images to the account's own server. */
export function createImages({ uploads, services, media }: ImageDeps) {
  const limitImages = createMediaLimiter({ concurrency: IMAGES_IN_MEMORY, perUser: 1 })

  async function upload(image: PreparedImage, account: Credentials, { signal }: CallOptions): Promise<StoredUpload> {
    const { blob } = await uploads.procedure(
      {
        service: services.resolve(account),
        nsid: 'com.atproto.repo.uploadBlob',
        input: { bytes: image.bytes, sizeBytes: image.bytes.length, mimeType: image.mimeType },
      },
      readUploadedBlob,
      { ...asAccount(account), signal },
    )
    return { blob, width: image.width, height: image.height, uploadedAt: Date.now() }
  }

  return {
    /** Uploads a stored image. @throws MediaUnavailableError, PlatformError */
    uploadItem: (item: MediaItem, limits: ImageLimits, account: Credentials, options: CallOptions) =>
      limitImages(item, async () => upload(await loadImage(media, item, limits, options), account, options), options),

    /** Returns a stored image within limits. @throws MediaUnavailableError, PlatformError */
    loadItem: (item: MediaItem, limits: ImageLimits, options: CallOptions): Promise<PreparedImage> =>
      loadImage(media, item, limits, options),

    upload,
  }
}

export type Images = ReturnType<typeof createImages>
