import { onTestFinished, describe, expect, it } from 'vitest'
import { sealSecrets, openSecrets } from '../../../src/commands/accounts/account-secrets.ts'
import { createAccountStore, type ConnectedAccount } from '../../../src/store/accounts/accounts.ts'
import { finishUpgrade } from '../../../src/commands/accounts/finish-upgrade.ts'
import { deriveMetrics, NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import { createDeadLetterStore } from '../../../src/store/analytics/dead-letters.ts'
import { createSnapshotStore } from '../../../src/store/analytics/snapshots.ts'
import { openDatabase } from '../../../src/store/shared/database.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { testConfig } from '../../support/servers.ts'
import { cipher } from './world.ts'

/** Accounts as older releases stored them, in a database of its own. */

const OLDER = 'platformAccounts'
const REPLACE = { replace: true, limit: 10 }

async function startOlder() {
  const url = new URL(testConfig().MONGODB_URL)
  url.pathname = `/older-${newId()}`
  const database = await openDatabase(url.href)
  onTestFinished(async () => {
    await database.connection.dropDatabase()
    await database.close()
  })
  const accounts = createAccountStore({ database, now: () => new Date() })
  await database.createIndexes()
  const documents = database.connection.collection(OLDER)
  // As older releases created them.
  await documents.createIndex({ userId: 1 }, { unique: true })
  await documents.createIndex(
    { 'bluesky.accountId': 1 },
    { unique: true, partialFilterExpression: { 'bluesky.accountId': { $type: 'string' } } },
  )

  /** Stores the document of a user like an older release. */
  async function insert(changes: object = {}, platformId = `did:plc:${newId()}`): Promise<string> {
    const userId = newId()
    const login = { accountId: platformId, handle: 'ann.test', accessToken: `token of ${userId}`, refreshToken: 'r' }
    const account = {
      ...{ connected: true, version: 4, accountId: platformId, handle: 'ann.test', serviceUrl: 'https://pds.test' },
      profile: { displayName: 'Ann', handle: 'ann.test', avatar: null },
      health: { status: 'active', lastError: null, checkedAt: new Date() },
      connectedAt: new Date(),
      auth: sealSecrets(cipher, { userId, platform: 'bluesky', version: 4 }, login),
      refreshLease: null,
      ...changes,
    }
    await documents.insertOne({ userId, bluesky: account, threads: { connected: false, version: 7 } })
    return userId
  }

  const seal =
    (userId: string, platformId: string = newId()) =>
    (version: number) => ({
      ...{ platformId, handle: 'new.test', server: null },
      profile: { displayName: 'New', handle: 'new.test', avatar: null },
      auth: sealSecrets(
        cipher,
        { userId, platform: 'bluesky', version },
        { accountId: platformId, handle: 'new.test', accessToken: `new token of ${userId}` },
      ),
    })
  const tokenOf = async (userId: string) => {
    const account = await accounts.findDefault(userId, 'bluesky')
    return account && openSecrets(cipher, account).accessToken
  }
  const documentOf = (userId: string) => documents.findOne({ userId })
  return { accounts, database, insert, seal, tokenOf, documentOf }
}

const withoutIndexFields = ({ exclusiveId: _, ...account }: ConnectedAccount) => account

describe('before the upgrade is finished', () => {
  it('an account is read and changed where the older release has it', async () => {
    const { accounts, insert, seal, tokenOf, documentOf } = await startOlder()
    const userId = await insert()
    expect(await tokenOf(userId)).toBe(`token of ${userId}`)
    const version = { userId, platform: 'bluesky' as const, version: 4 }
    const soon = new Date(Date.now() + 60_000)
    expect(await accounts.takeLease(version, 'one', soon)).toBe(true)
    expect(await accounts.takeLease(version, 'other', soon)).toBe(false)
    const { handle, server, auth } = seal(userId)(5)
    expect(await accounts.saveRenewed(version, { handle, server, auth }, 5)).toBe(true)
    expect(await accounts.saveRenewed(version, { handle, server, auth }, 5)).toBe(false)
    expect((await documentOf(userId))?.['bluesky']).toMatchObject({ version: 5, handle, refreshLease: null })
    expect(await tokenOf(userId)).toBe(`new token of ${userId}`)
  })

  it('an account is replaced and disconnected in the form of the older release', async () => {
    const { accounts, insert, seal, documentOf } = await startOlder()
    const userId = await insert()
    const { replaced } = await accounts.connect(userId, { bluesky: seal(userId, 'other') }, REPLACE)
    expect(replaced).toMatchObject([{ version: 4 }])
    const { bluesky } = (await documentOf(userId))!
    expect(bluesky).toMatchObject({ connected: true, accountId: 'other', serviceUrl: null, version: 5 })
    expect(bluesky).not.toHaveProperty('isDefault')
    expect(bluesky.endings).toHaveLength(1)
    const { _id } = (await accounts.findDefault(userId, 'bluesky'))!
    await accounts.disconnect(userId, [_id])
    const endings = [expect.any(Date), expect.any(Date)]
    expect((await documentOf(userId))?.['bluesky']).toEqual({ connected: false, version: 6, endings })
  })

  it('a new user gets the form of the older release, whose processes may publish the posts', async () => {
    const { accounts, insert, seal, documentOf } = await startOlder()
    await insert()
    const userId = newId()
    await Promise.all(Array.from({ length: 4 }, () => accounts.connect(userId, { bluesky: seal(userId) }, REPLACE)))
    expect((await documentOf(userId))?.['bluesky']).toMatchObject({ connected: true, version: 4 })
  })

  it('ranges of owners list all accounts, although they are moved meanwhile', async () => {
    const { accounts, insert } = await startOlder()
    const owners: string[] = []
    for (let user = 0; user < 6; user++) owners.push(await insert())
    const [, , bound] = owners.toSorted()
    const listed: string[][] = []
    for (const range of [
      { afterUserId: null, untilUserId: bound! },
      { afterUserId: bound!, untilUserId: null },
    ]) {
      const found: string[] = []
      for (let after: string | null = null; ;) {
        const page = await accounts.listOfOwners({ platform: 'bluesky', range }, after, 2)
        found.push(...page.accounts.map(({ userId }) => userId))
        if (after === null) await accounts.finishUpgrade()
        if (!page.next) break
        after = page.next
      }
      listed.push(found)
    }
    const [a, b, c, ...others] = owners.toSorted()
    expect(listed.map((found) => [...new Set(found)])).toEqual([[a, b, c], others])
  })

  it('a platform account belongs to one user', async () => {
    const { accounts, insert, seal } = await startOlder()
    await insert({}, 'did:plc:taken')
    const userId = newId()
    await expect(accounts.connect(userId, { bluesky: seal(userId, 'did:plc:taken') }, REPLACE)).rejects.toMatchObject({
      code: 'ACCOUNT_ALREADY_CONNECTED',
    })
  })

  it('a second account of a platform is refused', async () => {
    const { accounts, insert, seal } = await startOlder()
    const userId = await insert()
    const refused = { code: 'SERVICE_UNAVAILABLE' }
    const adding = accounts.connect(userId, { bluesky: seal(userId) }, { ...REPLACE, replace: false })
    await expect(adding).rejects.toMatchObject(refused)
    const { _id } = (await accounts.findDefault(userId, 'bluesky'))!
    await expect(accounts.updateOwn(userId, _id, { label: 'Brand' })).rejects.toMatchObject(refused)
  })
})

describe('finishing the upgrade', () => {
  it('accounts move with their ids, versions, secrets and endings', async () => {
    const { accounts, insert, tokenOf, documentOf } = await startOlder()
    const userId = await insert({ endings: [new Date(5)] })
    const before = await accounts.list(userId)
    expect(await accounts.finishUpgrade()).toBe(1)
    expect(await documentOf(userId)).toBeNull()
    const after = await accounts.list(userId)
    expect(after.map((account) => withoutIndexFields(account as ConnectedAccount)).toSorted(byId)).toEqual(
      before.toSorted(byId),
    )
    expect(await tokenOf(userId)).toBe(`token of ${userId}`)
    expect(await accounts.isUpgradeFinished()).toBe(true)
    expect(await accounts.finishUpgrade()).toBe(0)
  })

  it('stored metrics name the account, and then each account of a platform can have its own', async () => {
    const { accounts, database, insert, seal } = await startOlder()
    const { connection } = database
    const ended = new Date('2026-01-05T00:00:00Z')
    const userId = await insert({ endings: [ended] })
    const stores = { snapshots: createSnapshotStore(connection), deadLetters: createDeadLetterStore(connection) }
    const { snapshots } = stores
    // As older releases created them.
    const [posts, followers] = ['postSnapshots', 'accountSnapshots'].map((name) => connection.collection(name))
    await posts!.createIndex({ postId: 1, platform: 1, slot: -1 }, { unique: true })
    await followers!.createIndex({ userId: 1, platform: 1, slot: -1 }, { unique: true })
    await connection
      .collection('deadLetters')
      .createIndex({ userId: 1, postId: 1, platform: 1, type: 1 }, { unique: true })
    const [before, after] = [new Date('2026-01-04T00:00:00Z'), new Date('2026-01-06T00:00:00Z')]
    const metrics = (slot: Date) => ({ userId, postId: 'p', platform: 'bluesky' as const, slot, takenAt: slot })
    const counts = {
      ...NO_COUNTS,
      ...deriveMetrics(NO_COUNTS, null),
      followerCountAtSnapshot: null,
      completedAt: after,
    }
    await posts!.insertMany([
      { ...metrics(before), postId: 'older', completedAt: before },
      { ...metrics(after), completedAt: after },
    ])
    await followers!.insertMany([before, after].map((slot) => ({ ...metrics(slot), followers: 7 })))

    expect(await finishUpgrade({ accounts, ...stores })).toBe(1)
    const { _id } = (await accounts.findDefault(userId, 'bluesky'))!
    expect(await posts!.find({ userId }).sort({ takenAt: 1 }).toArray()).toMatchObject([{}, { accountId: _id }])
    expect(await posts!.countDocuments({ userId, accountId: null })).toBe(1)
    expect(await followers!.find({ userId, accountId: _id }).toArray()).toMatchObject([{ slot: after }])

    const { accounts: added } = await accounts.connect(
      userId,
      { bluesky: seal(userId) },
      { ...REPLACE, replace: false },
    )
    const other = added[0]!._id
    await database.transaction(async (session) => {
      await snapshots.save([{ ...metrics(after), ...counts, target: other, accountId: other }], session)
      const count = { userId, platform: 'bluesky' as const, slot: after, takenAt: after, followers: 9 }
      await snapshots.saveFollowers({ ...count, accountId: other, isOnly: false }, session)
    })
    expect(await posts!.countDocuments({ userId, postId: 'p' })).toBe(2)
    expect(await followers!.countDocuments({ userId, slot: after })).toBe(2)
    // It may be repeated.
    expect(await finishUpgrade({ accounts, ...stores })).toBe(0)
  })

  it('versions continue after those of the older release', async () => {
    const { accounts, insert, seal } = await startOlder()
    const userId = await insert()
    await accounts.finishUpgrade()
    const { accounts: connected } = await accounts.connect(
      userId,
      { bluesky: seal(userId), threads: seal(userId) },
      { ...REPLACE, replace: false },
    )
    expect(connected.map(({ platform, version, isDefault }) => [platform, version, isDefault])).toEqual([
      ['bluesky', 5, false],
      ['threads', 8, true],
    ])
  })

  it('a platform account that is not moved yet still belongs to its user', async () => {
    const { accounts, database, insert, seal, documentOf } = await startOlder()
    const owner = await insert({}, 'did:plc:taken')
    // As after a crash of the setup between the switch and the first move.
    await database.connection
      .collection<{ _id: string }>('accountsState')
      .updateOne({ _id: 'accounts' }, { $set: { areRecords: true } }, { upsert: true })
    const userId = newId()
    const connecting = () => accounts.connect(userId, { bluesky: seal(userId, 'did:plc:taken') }, REPLACE)
    await expect(connecting()).rejects.toMatchObject({ code: 'ACCOUNT_ALREADY_CONNECTED' })
    expect(await documentOf(owner)).not.toBeNull()
    await accounts.finishUpgrade()
    await expect(connecting()).rejects.toMatchObject({ code: 'ACCOUNT_ALREADY_CONNECTED' })
  })

  it('while users are moved, each account is read, renewed and replaced exactly once', async () => {
    const { accounts, insert, seal, tokenOf } = await startOlder()
    const userIds = await Promise.all(Array.from({ length: 60 }, () => insert()))
    let isMoving = true
    const reading = (async () => {
      const missing: string[] = []
      while (isMoving) {
        const found = await Promise.all(userIds.map((userId) => accounts.listConnected(userId)))
        found.forEach((connected, index) => connected.length === 1 || missing.push(userIds[index]!))
      }
      return missing
    })()
    const renewing = userIds.slice(0, 20).map(async (userId) => {
      const { handle, server, auth } = seal(userId)(5)
      return accounts.saveRenewed({ userId, platform: 'bluesky', version: 4 }, { handle, server, auth }, 5)
    })
    const replacing = userIds
      .slice(20, 40)
      .map((userId) => accounts.connect(userId, { bluesky: seal(userId) }, REPLACE))
    const moving = [accounts.finishUpgrade(), accounts.finishUpgrade()]
    expect(await Promise.all(renewing)).toEqual(Array(20).fill(true))
    await Promise.all([...replacing, ...moving])
    isMoving = false
    expect(await reading).toEqual([])
    const tokens = await Promise.all(userIds.map(tokenOf))
    expect(tokens).toEqual(userIds.map((userId, index) => `${index < 40 ? 'new token' : 'token'} of ${userId}`))
    expect(await accounts.isUpgradeFinished()).toBe(true)
  })
})

const byId = (one: { _id: string }, other: { _id: string }) => (one._id < other._id ? -1 : 1)
