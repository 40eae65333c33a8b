import { describe, expect, it } from 'vitest'
import { chooseById } from '../../../src/commands/accounts/account-credentials.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { rotatingPlatform, startProcess } from './world.ts'

const signal = AbortSignal.timeout(60_000)

async function startOne() {
  const platform = rotatingPlatform()
  const process = await startProcess(platform.adapter)
  const userId = newId()
  /** Adds a Bluesky account beside the existing ones, and returns its id. */
  async function add(secrets = platform.login()): Promise<string> {
    const { accounts } = await process.connectTogether(userId, { bluesky: secrets }, false)
    return accounts[0]!._id
  }
  const defaults = async () => (await process.accounts.listConnected(userId)).filter(({ isDefault }) => isDefault)
  return { ...process, platform, userId, add, defaults }
}

describe('several accounts on one platform', () => {
  it('the first account is the default, and further ones are added', async () => {
    const { accounts, userId, add } = await startOne()
    const ids = [await add(), await add(), await add()]
    expect(new Set(ids).size).toBe(3)
    expect((await accounts.findDefault(userId, 'bluesky'))?._id).toBe(ids[0])
    expect((await accounts.listConnected(userId)).map(({ _id }) => _id).toSorted()).toEqual(ids.toSorted())
  })

  it('a replacing connect ends the default account and leaves the others', async () => {
    const { accounts, userId, add, connect } = await startOne()
    const [first, second] = [await add(), await add()]
    const third = await connect(userId, rotatingPlatform().login())
    const connected = (await accounts.listConnected(userId)).map(({ _id }) => _id)
    expect(connected.toSorted()).toEqual([second, third._id].toSorted())
    expect(connected).not.toContain(first)
    expect(third.isDefault).toBe(true)
  })

  it('connecting a connected account again renews its login, and changes no other account', async () => {
    const { accounts, userId, add, connect, platform } = await startOne()
    await add()
    const secrets = platform.login()
    const second = await add(secrets)
    const again = await connect(userId, { ...platform.login(), accountId: secrets.accountId })
    expect([again._id, again.isDefault, again.version]).toEqual([second, false, 3])
    expect(await accounts.listConnected(userId)).toHaveLength(2)
  })

  it('the user chooses the default, and the earliest account follows a disconnected one', async () => {
    const { accounts, userId, add, defaults } = await startOne()
    const [first, second, third] = [await add(), await add(), await add()]
    expect(await accounts.updateOwn(userId, third, { isDefault: true })).toBe(true)
    expect(await defaults()).toMatchObject([{ _id: third }])
    await accounts.disconnect(userId, [third])
    expect(await defaults()).toMatchObject([{ _id: first }])
    await accounts.disconnect(userId, [first])
    expect(await defaults()).toMatchObject([{ _id: second }])
    expect(await accounts.updateOwn(userId, first, { isDefault: true })).toBe(false)
  })

  it('an account that is connected again has its id, its label and its endings', async () => {
    const { accounts, userId, add, platform } = await startOne()
    const secrets = platform.login()
    const id = await add(secrets)
    await accounts.updateOwn(userId, id, { label: 'Brand' })
    await accounts.disconnect(userId, [id])
    expect(await add({ ...platform.login(), accountId: secrets.accountId })).toBe(id)
    expect(await accounts.findOwn(userId, id)).toMatchObject({ label: 'Brand', endings: [expect.any(Date)] })
    await accounts.updateOwn(userId, id, { label: null })
    expect(await accounts.findOwn(userId, id)).not.toHaveProperty('label')
  })

  it('more accounts than the plan allows are refused, and a connected one is not', async () => {
    const { connectTogether, userId, add, platform } = await startOne()
    const secrets = platform.login()
    await add(secrets)
    for (let count = 1; count < 10; count++) await add()
    await expect(add()).rejects.toMatchObject({ code: 'ACCOUNT_LIMIT_REACHED', details: { usage: 10, limit: 10 } })
    await add({ ...platform.login(), accountId: secrets.accountId })
    await connectTogether(userId, { bluesky: platform.login() })
  })

  it('accounts that came with the same login end together, and those of another login stay', async () => {
    const { accounts, connectTogether, userId, platform } = await startOne()
    const login = () => ({ facebook: platform.login(), instagram: platform.login() })
    const [first, second, third] = [login(), login(), login()]
    const connect = async (one: ReturnType<typeof login>, replace: boolean) =>
      (await connectTogether(userId, one, replace)).accounts.map(({ _id }) => _id)
    const listIds = async () => new Set((await accounts.listConnected(userId)).map(({ _id }) => _id))
    const ids = [await connect(first, true), await connect(second, false)] as [string[], string[]]
    const [page, picture] = ids[1] as [string, string]
    expect(await accounts.findOwn(userId, picture)).toMatchObject({ companionOf: page, isDefault: false })

    await accounts.updateOwn(userId, page, { isDefault: true })
    const replacing = await connect(third, true)
    expect(await listIds()).toEqual(new Set([...ids[0], ...replacing]))
    expect(await accounts.findDefault(userId, 'instagram')).toMatchObject({ _id: ids[0][1] })

    await connectTogether(userId, { facebook: third.facebook, instagram: null }, true)
    expect(await listIds()).toEqual(new Set([...ids[0], replacing[0]]))
    await accounts.disconnect(userId, [ids[0][0]!])
    expect(await listIds()).toEqual(new Set([replacing[0]]))
  })

  it('concurrent changes leave one default on each platform, and a version of its own for each login', async () => {
    const { accounts, userId, add, defaults, raw } = await startOne()
    const ids = await Promise.all(Array.from({ length: 6 }, () => add()))
    await Promise.all([
      ...ids.map((id) => accounts.updateOwn(userId, id, { isDefault: true })),
      accounts.disconnect(userId, ids.slice(0, 2)),
      add(),
    ])
    expect(await defaults()).toHaveLength(1)
    const versions = (await raw(userId)).map(({ version }) => version as number)
    expect(new Set(versions).size).toBe(versions.length)
  })

  it('each account is renewed with its own login, and each result is saved', async () => {
    const { accounts, credentials, userId, platform } = await startOne()
    const process = await startProcess(platform.adapter)
    const ids: string[] = []
    for (let count = 0; count < 3; count++) {
      const secrets = { ...platform.login(), refreshToken: `refresh-${count}`, accountId: `did:plc:${newId()}` }
      ids.push((await process.connectTogether(userId, { bluesky: secrets }, false)).accounts[0]!._id)
    }
    const renewedWith = new Map<string, string>()
    platform.adapter.renew = async (account) => {
      renewedWith.set(account.accountId, account.refreshToken!)
      return { ...account, accessToken: `renewed ${account.accountId}` }
    }
    await Promise.all(
      ids.map(async (id, index) => {
        const choose = chooseById(id)
        const from = index === 0 ? credentials : process.credentials
        const used = (await from.get(userId, 'bluesky', { signal, choose, minLifeMs: 0 }))!
        await from.renew(userId, 'bluesky', used, { signal, choose })
      }),
    )
    const stored = await accounts.listConnected(userId)
    for (const [index, id] of ids.entries()) {
      const { platformId } = stored.find(({ _id }) => _id === id)!
      const now = await credentials.get(userId, 'bluesky', { signal, choose: chooseById(id) })
      expect([renewedWith.get(platformId), now!.accessToken]).toEqual([`refresh-${index}`, `renewed ${platformId}`])
    }
  })
})
