import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { run } from '../../scripts/provision.mjs'

const RELEASE_TAGS = 'v[0-9]*.[0-9]*.[0-9]*'

const git = (folder: string, ...args: string[]): Promise<string> => run('git', args, { cwd: folder })

/**
 * Returns the tag of the last release that the current commit contains; null while nothing is released.
 * @throws Error in a shallow clone without tags, where the last release is not known
 */
export async function findLastRelease(folder = PROJECT_ROOT): Promise<string | null> {
  const tag = await git(folder, 'describe', '--tags', '--abbrev=0', '--match', RELEASE_TAGS).catch(() => null)
  if (tag !== null) return tag.trim()
  if ((await git(folder, 'rev-parse', '--is-shallow-repository')).trim() === 'true') {
    throw new Error(
      'This clone is shallow and has no release tag. Fetch the whole history: git fetch --unshallow --tags',
    )
  }
  return null
}

/** Extracts the service's source at a tag or commit so that it can run with the present dependencies. */
export async function extractRelease(release: string, root: string): Promise<string> {
  mkdirSync(root, { recursive: true })
  const archive = join(root, 'release.tar')
  await git(PROJECT_ROOT, 'archive', '--output', archive, release, 'src', 'package.json')
  await run('tar', ['-xf', archive, '-C', root], { cwd: root })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(root, 'node_modules'))
  return root
}
