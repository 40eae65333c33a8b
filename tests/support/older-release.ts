import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { run } from '../../scripts/provision.mjs'

/** The last commit whose posts, accounts and metrics know one account per platform. */
export const ONE_ACCOUNT_PER_PLATFORM = '89b75bb7d2c16065fae6013de1006d7770e8054e'

/**
 * Extracts the service's source at a commit so that it can run with the present dependencies.
 * @throws Error when the clone has no history and its origin does not have the commit
 */
export async function extractRelease(commit: string, root: string): Promise<string> {
  const git = (...args: string[]) => run('git', args, { cwd: PROJECT_ROOT })
  const isPresent = await git('cat-file', '-e', `${commit}^{commit}`).then(
    () => true,
    () => false,
  )
  // A shallow clone lacks older commits.
  if (!isPresent) await git('fetch', '--quiet', '--depth', '1', 'origin', commit)
  mkdirSync(root, { recursive: true })
  const archive = join(root, 'release.tar')
  await git('archive', '--output', archive, commit, 'src', 'package.json')
  await run('tar', ['-xf', archive, '-C', root], { cwd: root })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(root, 'node_modules'))
  return root
}
