import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Canary } from './judge/evidence.ts'

const SOME = 65_536
const NOTHING = Buffer.alloc(SOME)

/** Searches every file in the folders for secrets, byte by byte. Returns a sentence per finding. */
export function findInFiles(folders: string[], canaries: Canary[]): string[] {
  const values = [...new Map(canaries.map(({ name, value }) => [value, name]))]
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ parentPath, name }) => {
        const file = join(parentPath, name)
        const bytes = withoutEmptyEnd(readFileSync(file))
        return values.filter(([value]) => bytes.includes(value)).map(([, what]) => `${what} is in ${file}`)
      }),
  )
}

/** Journals are made long, and filled later. */
function withoutEmptyEnd(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end >= SOME && bytes.compare(NOTHING, 0, SOME, end - SOME, end) === 0) end -= SOME
  return bytes.subarray(0, end)
}
