import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Lists the tracked and the new files of the repository, or those below some paths. git still lists deleted files. */
export function listRepositoryFiles(paths: string[] = []): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths]
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return listed.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)))
}
