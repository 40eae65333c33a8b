import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/store/shared/schema.ts'
import { rotatingPlatform, startProcess } from './world.ts'

describe('platform accounts', () => {
  it('a platform has one account, even when first connections are concurrent', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, raw } = await startProcess(platform.adapter)
    const userId = newId()
    const stored = await Promise.all(Array.from({ length: 8 }, () => connect(userId, platform.login())))
    expect(stored.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect((await accounts.listConnected(userId)).map(({ version }) => version)).toEqual([8])
    expect((await raw(userId)).filter(({ isDefault }) => isDefault)).toMatchObject([{ version: 8 }])
  })

  it('versions never repeat across disconnecting and reconnecting', async () => {
    const platform = rotatingPlatform()
    const { connect, credentials, disconnect } = await startProcess(platform.adapter)
    const userId = newId()
    const signal = new AbortController().signal
    const versions: number[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      const account = await connect(userId, platform.login())
      versions.push(account.version)
      const used = await credentials.get(userId, 'bluesky', { signal })
      versions.push((await credentials.renew(userId, 'bluesky', used!, { signal })).version)
      await disconnect(userId)
    }
    expect(versions).toEqual([1, 2, 3, 4, 5, 6])
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

  it('a connection does not expire while another process renews its secrets', async () => {
    const platform = rotatingPlatform()
    const [one, other] = [await startProcess(platform.adapter), await startProcess(platform.adapter)]
    const userId = newId()
    const { version } = await one.connect(userId, platform.login())
    const used = (await one.credentials.get(userId, 'bluesky', { signal: AbortSignal.timeout(60_000) }))!
    const account = { userId, platform: 'bluesky', version } as const
    await other.accounts.takeLease(account, 'other', new Date(Date.now() + 60_000))
    expect(
      await one.credentials.markExpired(userId, 'bluesky', used, { message: 'refused', platformReason: null }),
    ).toBe(false)
    // The renewal has failed.
    await other.accounts.markBroken(account, { status: 'error', reason: 'refused' })
    expect(
      await one.credentials.markExpired(userId, 'bluesky', used, { message: 'refused', platformReason: null }),
    ).toBe(true)
  })

  it('a platform account belongs to one user until that user disconnects', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, disconnect } = await startProcess(platform.adapter)
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
    expect(await accounts.findDefault(other, 'bluesky')).toBeNull()

    await connect(owner, secrets)
    await disconnect(owner)
    await connect(other, secrets)
    expect((await accounts.findDefault(other, 'bluesky'))?.platformId).toBe(secrets.accountId)
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
    expect(replaced.map((one) => one.platform).toSorted()).toEqual(['facebook', 'instagram'])
    expect(await accounts.connectedPlatforms(owner)).toEqual(new Set(['facebook']))
    await connectTogether(other, { facebook: page, instagram: picture })
    expect(await accounts.connectedPlatforms(other)).toEqual(new Set(['instagram', 'facebook']))
  })

  it('many users can have no account on a platform', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, disconnect } = await startProcess(platform.adapter)
    for (const userId of [newId(), newId()]) {
      await connect(userId, platform.login())
      await disconnect(userId)
      expect(await accounts.connectedPlatforms(userId)).toEqual(new Set())
    }
  })

  it('a disconnected account keeps only its version and the time of its end', async () => {
    const platform = rotatingPlatform()
    const { connect, accounts, raw, disconnect } = await startProcess(platform.adapter)
    const userId = newId()
    const secrets = platform.login()
    const { _id } = await connect(userId, secrets)
    expect(await accounts.connectedPlatforms(userId)).toEqual(new Set(['bluesky']))
    expect(await disconnect(userId)).toMatchObject([{ platformId: secrets.accountId }])
    const record = { _id, userId, platform: 'bluesky', connected: false, version: 1, isDefault: false }
    expect(await raw(userId)).toEqual([{ ...record, endings: [expect.any(Date)] }])
    expect(await disconnect(userId)).toEqual([])
    expect(await raw(userId)).toEqual([{ ...record, endings: [expect.any(Date)] }])
  })

  it('a reconnect of the same account is not recorded as a change of account', async () => {
    const platform = rotatingPlatform()
    const { connect, raw, disconnect } = await startProcess(platform.adapter)
    const userId = newId()
    const endings = async () => (await raw(userId)).flatMap((record) => (record['endings'] as Date[] | undefined) ?? [])
    const secrets = platform.login()
    await connect(userId, secrets)
    await connect(userId, { ...platform.login(), accountId: secrets.accountId })
    expect(await endings()).toEqual([])
    await connect(userId, { ...platform.login(), accountId: `another-${userId}` })
    expect(await endings()).toEqual([expect.any(Date)])
    await disconnect(userId)
    const again = await connect(userId, secrets)
    expect(await endings()).toEqual([expect.any(Date), expect.any(Date)])
    expect(again.endings).toEqual([expect.any(Date)])
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
    expect((await accounts.findDefault(userId, 'bluesky'))?.profile.displayName).toBe('Alice')
  })
})
