import { badParameter, GraphRefusal } from '../shared/graph/graph.ts'
import { hasPicture, readFilm } from '../shared/film.ts'
import { pullFile, type PulledFile } from '../shared/graph/pulled-files.ts'

const PHOTO_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/bmp', 'image/tiff']
const PHOTO_BYTES = 4_000_000
const VIDEO_TYPES = ['video/mp4', 'video/quicktime']

/** @throws GraphRefusal */
export async function pullPhoto(url: string | undefined): Promise<PulledFile> {
  if (url === undefined) throw badParameter('(#324) Requires upload file')
  const file = await pullFile(url)
  if (!file) {
    throw new GraphRefusal({ code: 324, subcode: 2_069_019, message: '(#324) Missing or invalid image file' })
  }
  if (!PHOTO_TYPES.includes(file.mimeType) || file.bytes.length > PHOTO_BYTES) {
    throw new GraphRefusal({
      code: 324,
      subcode: 1_366_046,
      message: '(#324) Missing or invalid image file',
      userTitle: "Your photos couldn't be uploaded",
      userMessage: 'Photos should be smaller than 4 MB and saved as JPG or PNG.',
    })
  }
  return file
}

/** @throws GraphRefusal */
export async function pullVideo(url: string | undefined): Promise<PulledFile> {
  if (url === undefined) throw badParameter('Param file_url is required')
  const file = await pullFile(url)
  if (!file) throw new GraphRefusal({ code: 389, message: '(#389) Unable to fetch video file from URL.' })
  if (!VIDEO_TYPES.includes(file.mimeType)) {
    throw new GraphRefusal({
      code: 352,
      subcode: 1_363_024,
      message: "(#352) The video file you selected is in a format that we don't support.",
    })
  }
  return file
}

/** Why the processing of an accepted video fails, or null. */
export function findVideoProblem({ bytes, sizeBytes }: PulledFile): string | null {
  return hasPicture(readFilm(bytes, sizeBytes)) ? null : 'The video file could not be processed.'
}
