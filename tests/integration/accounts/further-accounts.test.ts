import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectFurtherAccount, listAccounts, listFurtherAccounts } from '../../../sandbox/further-accounts.ts'
import { startPlatforms, startSecondMastodon, type SecondServer } from '../../../sandbox/platforms/all.ts'
import type { RunningPlatform, UserApi } from '../../../sandbox/platforms/sandbox-platform.ts'
import { apiWorld, signIn, type ApiWorld } from '../../support/api.ts'
import { testConfig } from '../../support/servers.ts'

/** The further accounts of the sandbox's sample user, connected at several starts. */

const dir = mkdtempSync(join(tmpdir(), 'postonce-further-'))
let platforms: RunningPlatform[]
/** The second server, and the same one after its port was taken by another program. */
let second: SecondServer
let moved: SecondServer
let world: ApiWorld

beforeAll(async () => {
  ;[platforms, second, moved] = await Promise.all([
    startPlatforms(dir),
    startSecondMastodon(join(dir, 'first')),
    startSecondMastodon(join(dir, 'later')),
  ])
  const { PUBLIC_URL } = testConfig()
  world = await apiWorld({
    ...Object.assign({}, ...platforms.map(({ env }) => env(PUBLIC_URL))),
    ALLOWED_PRIVATE_SERVERS: [second, moved].map(({ url }) => url).join(),
  })
})

afterAll(async () => {
  await world?.close()
  await Promise.all([...(platforms ?? []), second, moved].map((server) => server?.stop()))
  rmSync(dir, { recursive: true, force: true })
})

async function sampleUser(): Promise<UserApi> {
  const { headers } = await signIn(world.context)
  const user: UserApi = {
    async call<T>(method: Parameters<UserApi['call']>[0], url: string, payload?: object) {
      const response = await world.app.inject({ method, url, headers, ...(payload && { payload }) })
      expect(response.statusCode, response.body).toBe(200)
      return response.json().data as T
    },
    async follow(address) {
      const { pathname, search } = new URL(address)
      return String((await world.app.inject({ url: `${pathname}${search}` })).headers.location)
    },
  }
  for (const { connect } of platforms) await connect('postonce', user)
  return user
}

it('the sandbox adds its further accounts once, beside the default accounts, also when a server has moved', async () => {
  const user = await sampleUser()
  const defaults = await listAccounts(user)
  const { bluesky, mastodon } = listFurtherAccounts(platforms, second)
  const added = [
    await connectFurtherAccount(user, bluesky!, undefined),
    await connectFurtherAccount(user, mastodon!, undefined),
  ]
  // A start that was killed before it stored its result connects the account again.
  expect(await connectFurtherAccount(user, mastodon!, undefined)).toEqual(added[1])
  const further = async () => (await listAccounts(user)).filter(({ isDefault }) => !isDefault)
  const { host } = new URL(second.url)
  expect(await further()).toMatchObject([
    { _id: added[0]!.accountId, label: 'Tea club', server: bluesky!.server, profile: { handle: 'teaclub.test' } },
    { _id: added[1]!.accountId, label: 'Tea club', server: second.url, profile: { handle: `teaclub@${host}` } },
  ])

  const later = await connectFurtherAccount(user, listFurtherAccounts(platforms, moved)['mastodon']!, added[1])
  expect((await further()).map(({ _id, server }) => [_id, server])).toEqual([
    [added[0]!.accountId, bluesky!.server],
    [later.accountId, moved.url],
  ])
  expect((await listAccounts(user)).filter(({ isDefault }) => isDefault)).toEqual(defaults)
})
