import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/store/shared/schema.ts'
import { rotatingPlatform, startProcess } from './world.ts'

describe('platform accounts', () => {
  it('a user has one account document, even when first connections are concurrent', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, raw } = await startProcess(platform.adapter)
    const userId = newId()
    const stored = await Promise.all(Array.from({ length: 8 }, () => connect(userId, platform.login())))
    expect(stored.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect((await accounts.findConnected(userId, 'bluesky'))?.version).toBe(8)
    expect((await raw(userId))?.['bluesky'].version).toBe(8)
  })

  it('versions never repeat across disconnecting and reconnecting', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, credentials } = await startProcess(platform.adapter)
    const userId = newId()
    const signal = new AbortController().signal
    const versions: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      const account = await connect(userId, platform.login())
      versions.push(account.version)
      const used = await credentials.get(userId, 'bluesky', { signal })
      versions.push((await credentials.renew(userId, 'bluesky', used!, { signal })).version)
      await accounts.disconnect(userId, 'bluesky')
    }
    expect(versions).toEqual([1, 2, 4, 5, 7, 8])
  })

  it('an expired connection gives no lease, even to a process that read it before', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts } = await startProcess(platform.adapter)
    const userId = newId()
    const account = await connect(userId, platform.login())
    const lease = (holder: string) =>
      accounts.takeLease(
        { userId, platform: 'bluesky', version: account.version },
        holder,
        new Date(Date.now() + 60_000),
      )
    expect(await lease('first')).toBe(true)
    await accounts.markBroken(
      { userId, platform: 'bluesky', version: account.version },
      { status: 'expired', reason: 'refused' },
    )
    expect(await lease('second')).toBe(false)
  })

  it('a platform account belongs to one user until that user disconnects', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts } = await startProcess(platform.adapter)
    const secrets = platform.login()
    const users = [newId(), newId(), newId()]
    const results = await Promise.allSettled(users.map((userId) => connect(userId, secrets)))
    const owner = users[results.findIndex(({ status }) => status === 'fulfilled')]!
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.map(({ reason }) => reason)).toMatchObject([
      { code: 'ACCOUNT_ALREADY_CONNECTED', statusCode: 409 },
      { code: 'ACCOUNT_ALREADY_CONNECTED' },
    ])
    const other = users.find((userId) => userId !== owner)!
    expect(await accounts.findConnected(other, 'bluesky')).toBeNull()

    await connect(owner, secrets)
    await accounts.disconnect(owner, 'bluesky')
    await connect(other, secrets)
    expect((await accounts.findConnected(other, 'bluesky'))?.accountId).toBe(secrets.accountId)
  })

  it('accounts connected together are stored together or not at all', async () => {
    const platform = rotatingPlatform()
    const { accounts, connectTogether } = await startProcess(platform.adapter)
    const [owner, other] = [newId(), newId()]
    const [page, picture, otherPage] = [platform.login(), platform.login(), platform.login()]
    await connectTogether(owner, { facebook: page, instagram: picture })
    const taken = connectTogether(other, { facebook: otherPage, instagram: picture })
    await expect(taken).rejects.toMatchObject({
      code: 'ACCOUNT_ALREADY_CONNECTED',
      message: 'This Instagram account is already connected by another user',
    })
    expect(await accounts.connectedPlatforms(other)).toEqual(new Set())

    const { replaced } = await connectTogether(owner, { facebook: otherPage, instagram: null })
    expect(replaced.map((one) => one.platform)).toEqual(['instagram', 'facebook'])
    expect(await accounts.connectedPlatforms(owner)).toEqual(new Set(['facebook']))
    await connectTogether(other, { facebook: page, instagram: picture })
    expect(await accounts.connectedPlatforms(other)).toEqual(new Set(['instagram', 'facebook']))
  })

  it('many users can have no account on a platform', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts } = await startProcess(platform.adapter)
    for (const userId of [newId(), newId()]) {
      await connect(userId, platform.login())
      await accounts.disconnect(userId, 'bluesky')
      expect(await accounts.connectedPlatforms(userId)).toEqual(new Set())
    }
  })

  it('a disconnected account keeps only its version and the time of its end', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, raw } = await startProcess(platform.adapter)
    const userId = newId()
    const secrets = platform.login()
    await connect(userId, secrets)
    expect(await accounts.connectedPlatforms(userId)).toEqual(new Set(['bluesky']))
    expect((await accounts.disconnect(userId, 'bluesky'))?.accountId).toBe(secrets.accountId)
    expect((await raw(userId))?.['bluesky']).toEqual({ connected: false, version: 2, endings: [expect.any(Date)] })
    expect(await accounts.disconnect(userId, 'bluesky')).toBeNull()
    expect((await raw(userId))?.['bluesky']).toEqual({ connected: false, version: 2, endings: [expect.any(Date)] })
  })

  it('a reconnect of the same account is not recorded as a change of account', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, raw } = await startProcess(platform.adapter)
    const userId = newId()
    const endings = async () => ((await raw(userId))?.['bluesky'] as { endings?: Date[] } | undefined)?.endings
    const secrets = platform.login()
    await connect(userId, secrets)
    await connect(userId, { ...platform.login(), accountId: secrets.accountId })
    expect(await endings()).toBeUndefined()
    await connect(userId, { ...platform.login(), accountId: `another-${userId}` })
    expect(await endings()).toEqual([expect.any(Date)])
    await accounts.disconnect(userId, 'bluesky')
    await connect(userId, secrets)
    expect(await endings()).toEqual([expect.any(Date), expect.any(Date)])
  })

  it('a profile is saved only for the version it was read with', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts } = await startProcess(platform.adapter)
    const userId = newId()
    const account = await connect(userId, platform.login())
    const profile = { displayName: 'Renamed', handle: 'renamed.test', avatar: null }
    expect(await accounts.saveProfile({ userId, platform: 'bluesky', version: account.version }, profile)).toBe(true)
    await connect(userId, platform.login())
    expect(
      await accounts.saveProfile(
        { userId, platform: 'bluesky', version: account.version },
        { ...profile, displayName: 'Late' },
      ),
    ).toBe(false)
    expect((await accounts.findConnected(userId, 'bluesky'))?.profile.displayName).toBe('Alice')
  })
})
