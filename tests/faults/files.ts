import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Canary } from './judge/evidence.ts'

const BLOCK_BYTES = 65_536
const EMPTY_BLOCK = Buffer.alloc(BLOCK_BYTES)

/** Searches the bytes of every file in the folders for secrets. Returns one sentence per finding. */
export function findInFiles(folders: string[], canaries: Canary[]): string[] {
  const namesByValue = [...new Map(canaries.map(({ name, value }) => [value, name]))]
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ parentPath, name }) => {
        const file = join(parentPath, name)
        const bytes = trimEmptyBlocks(readFileSync(file))
        return namesByValue.filter(([value]) => bytes.includes(value)).map(([, secret]) => `${secret} is in ${file}`)
      }),
  )
}

/** Cuts empty blocks off the end: databases allocate journal files before they fill them. */
function trimEmptyBlocks(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end >= BLOCK_BYTES && bytes.compare(EMPTY_BLOCK, 0, BLOCK_BYTES, end - BLOCK_BYTES, end) === 0)
    end -= BLOCK_BYTES
  return bytes.subarray(0, end)
}
