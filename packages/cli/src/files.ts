import { openAsBlob } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { CliError, EXIT } from './exit-codes.ts'

/**
 * Opens a file that an argument names.
 * @throws CliError with the path when it cannot be read
 */
export async function openFile(path: string, type?: string): Promise<Blob> {
  try {
    await access(path, constants.R_OK)
    return await openAsBlob(path, type === undefined ? {} : { type })
  } catch {
    throw new CliError(`${path} cannot be read.`, EXIT.usage)
  }
}
