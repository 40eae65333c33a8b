import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { run } from '../../scripts/provision.mjs'
import { extractRelease, findLastRelease } from '../support/last-release.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const AUTHOR = ['-c', 'user.name=Someone', '-c', 'user.email=someone@example.test', '-c', 'commit.gpgsign=false']

async function createRepository() {
  const folder = temporaryFolder()
  const git = (...args: string[]) => run('git', [...AUTHOR, ...args], { cwd: folder })
  await git('init', '--quiet')
  const commit = (message: string) => git('commit', '--quiet', '--allow-empty', '--message', message)
  return { folder, git, commit }
}

test('there is no last release while no release is tagged', async () => {
  const { folder, git, commit } = await createRepository()
  await commit('First')
  await git('tag', 'nightly')
  expect(await findLastRelease(folder)).toBeNull()
})

test('the last release is the newest release tag that the current commit contains', async () => {
  const { folder, git, commit } = await createRepository()
  for (const tag of ['v0.1.0', 'v0.2.0', 'nightly']) {
    await commit(tag)
    await git('tag', tag)
  }
  await git('checkout', '--quiet', '-b', 'next')
  await commit('A release of another branch')
  await git('tag', 'v9.0.0')
  await git('checkout', '--quiet', 'nightly')
  expect(await findLastRelease(folder)).toBe('v0.2.0')
})

test('the last release of a shallow clone without tags is not known', async () => {
  const { folder, commit } = await createRepository()
  for (const message of ['First', 'Second']) await commit(message)
  const clone = join(temporaryFolder(), 'clone')
  await run('git', ['clone', '--quiet', '--depth', '1', pathToFileURL(folder).href, clone], { cwd: folder })
  await expect(findLastRelease(clone)).rejects.toThrow('This clone is shallow')
})

test('an extracted release has its source, and finds the installed packages', async () => {
  const root = await extractRelease('HEAD', join(temporaryFolder(), 'release'))
  for (const path of ['src/server.ts', 'src/worker.ts', 'src/cli/setup.ts', 'node_modules/fastify/package.json']) {
    expect(existsSync(join(root, path)), path).toBe(true)
  }
})
