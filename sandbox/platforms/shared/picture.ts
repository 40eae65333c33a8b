import { minidenticon } from 'minidenticons'
import sharp from 'sharp'
import type { SimulatorResponse } from './server.ts'

const SIZE = 400

/** Generates the sample picture of an account from its id, as a PNG, since platforms serve no vector graphics. */
export async function accountPicture(id: string): Promise<SimulatorResponse> {
  const drawn = sharp(Buffer.from(minidenticon(id)), { density: 600 }).resize(SIZE, SIZE)
  const bytes = await drawn.flatten({ background: '#f0f0f0' }).png().toBuffer()
  return { status: 200, headers: { 'content-type': 'image/png' }, bytes }
}
