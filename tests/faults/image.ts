import sharp from 'sharp'
import type { Send } from './client.ts'

/** Square and in JPEG: what every platform takes as it is. */
const SIDE = 640
const TYPE = 'image/jpeg'

let bytes: Promise<Buffer> | undefined

/** Uploads an image as a client does; returns what a post says of it. */
export async function uploadImage(send: Send): Promise<object> {
  bytes ??= sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: '#3a6ea5' } })
    .jpeg()
    .toBuffer()
  const image = await bytes
  const asked = { contentType: TYPE, sizeBytes: image.length }
  const { body } = await send('POST', '/api/posts/media/upload', asked)
  const { uploadUrl, storageKey } = (body as { data: { uploadUrl: string; storageKey: string } }).data
  const stored = await fetch(uploadUrl, {
    method: 'PUT',
    body: new Uint8Array(image),
    headers: { 'content-type': TYPE },
  })
  if (!stored.ok) throw new Error(`Uploading the image was answered ${stored.status}`)
  return { storageKey, mimeType: TYPE, sizeBytes: image.length, width: SIDE, height: SIDE, altText: 'Plain blue' }
}
