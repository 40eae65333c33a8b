import sharp from 'sharp'
import type { Send } from './client.ts'

/** Every platform accepts a square JPEG without conversion. */
const SIDE = 640
const TYPE = 'image/jpeg'

let encoded: Promise<Buffer> | undefined

export function encodeImage(): Promise<Buffer> {
  encoded ??= sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: '#3a6ea5' } })
    .jpeg()
    .toBuffer()
  return encoded
}

/** Uploads an image as a client does. Returns the media item for a post. */
export async function uploadImage(send: Send): Promise<object> {
  const image = await encodeImage()
  const upload = { contentType: TYPE, sizeBytes: image.length }
  const { body } = await send('POST', '/api/posts/media/upload', upload)
  const { uploadUrl, storageKey } = (body as { data: { uploadUrl: string; storageKey: string } }).data
  const stored = await fetch(uploadUrl, {
    method: 'PUT',
    body: new Uint8Array(image),
    headers: { 'content-type': TYPE },
  })
  if (!stored.ok) throw new Error(`Uploading the image returned ${stored.status}`)
  return { storageKey, mimeType: TYPE, sizeBytes: image.length, width: SIDE, height: SIDE, altText: 'Plain blue' }
}
