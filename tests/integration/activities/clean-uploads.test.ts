import { randomUUID } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { MockActivityEnvironment } from '@temporalio/testing'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCleanUploadsActivities } from '../../../src/activities/media/clean-uploads.ts'
import { systemClock, type Clock } from '../../../src/clock.ts'
import { createContext, type Context } from '../../../src/context.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { copyKey, removedKey } from '../../../src/domain/media/storage-keys.ts'
import { DAY, HOUR } from '../../../src/domain/shared/times.ts'
import { createMediaSource } from '../../../src/integrations/storage/media-source.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import type { CleanedFolders, FolderCursor } from '../../../src/workflows/contract/media.ts'
import { createAccount } from '../../support/api.ts'
import { poll } from '../../support/delivery-world.ts'
import { planTestImport } from '../../support/imports.ts'
import { buildPost } from '../../support/posts.ts'
import { testContext } from '../../support/servers.ts'
import { partial } from '../../support/partial.ts'

/** Files have the time of their storage, so the tests move the clock of the clean-up instead. */
const later = (ms: number): Clock => ({ ...systemClock, now: () => new Date(Date.now() + ms) })
const TOMORROW = DAY + HOUR

let context: Context
let png: Buffer

beforeAll(async () => {
  context = await testContext({ WORKER_QUEUES: 'maintenance' })
  png = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
})
afterAll(() => context?.close())

type Deps = Parameters<typeof createCleanUploadsActivities>[0]

/** A whole clean-up as the workflow does it, so much later. */
async function clean(afterMs: number, parts: Partial<Deps> = {}): Promise<CleanedFolders & { pages: number }> {
  const { cleanUploadsPage } = createCleanUploadsActivities({ ...context, clock: later(afterMs), ...parts })
  const totals = { removed: 0, restored: 0, deleted: 0, pages: 0 }
  let cursor: FolderCursor | null = null
  do {
    const page: Awaited<ReturnType<typeof cleanUploadsPage>> = await new MockActivityEnvironment().run(
      cleanUploadsPage,
      cursor,
    )
    totals.removed += page.removed
    totals.restored += page.restored
    totals.deleted += page.deleted
    totals.pages += 1
    cursor = page.next
  } while (cursor)
  return totals
}

async function stored(key: string): Promise<string> {
  await context.storage.put({ key, body: png, contentType: 'image/png' })
  return key
}

const newUpload = (userId = newId()) => stored(`posts/${userId}/${randomUUID()}.png`)
const isPublic = async (key: string) => (await fetch(context.storage.publicUrl(key))).status === 200
const isRemoved = async (key: string) => (await context.storage.storedAt(removedKey(key))) !== null

const mediaItem = (storageKey: string) => ({ storageKey, storageUrl: '', mimeType: 'image/png' })
const userOf = (key: string) => key.split('/')[1]!

async function postWith(key: string, fields: Partial<Parameters<typeof buildPost>[0]> = {}): Promise<Post> {
  const content = { text: '', mediaItems: [mediaItem(key)] }
  const post = buildPost({ userId: userOf(key), content, ...fields }, new Date())
  await context.database.transaction((session) => context.posts.insert([post], session))
  return post
}

describe('cleaning uploads', () => {
  it('a clean-up removes only uploads that no post used within a day', async () => {
    const userId = newId()
    const [unused, taken, overriding, drafted] = await Promise.all([1, 2, 3, 4].map(() => newUpload(userId)))
    await postWith(taken!)
    await postWith(drafted!, { draft: true })
    await postWith(taken!, {
      content: { text: 'Without', mediaItems: [] },
      platformSpecificContent: { mastodon: { mediaItems: [mediaItem(overriding!)] } },
    })
    expect(await clean(23 * HOUR)).toMatchObject({ removed: 0 })
    expect(await isPublic(unused!)).toBe(true)
    expect(await clean(TOMORROW)).toMatchObject({ removed: 1, deleted: 0 })
    expect(await Promise.all([unused, taken, overriding, drafted].map((key) => isPublic(key!)))).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  it('a clean-up leaves the uploads of threads alone', async () => {
    const userId = newId()
    const [common, ofPlatform, ofAccount, unused] = await Promise.all([1, 2, 3, 4].map(() => newUpload(userId)))
    const thread = (key: string) => ({ segments: [{ text: 'Two', mediaItems: [mediaItem(key)] }] })
    await postWith(common!, {
      content: { text: 'One', mediaItems: [], ...thread(common!) },
      platformSpecificContent: { mastodon: thread(ofPlatform!) },
      accountSpecificContent: { [newId()]: thread(ofAccount!) },
    })
    await clean(TOMORROW)
    expect(await Promise.all([common, ofPlatform, ofAccount, unused].map((key) => isPublic(key!)))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it('a clean-up leaves uploads alone that a row of an import uses, until the import is deleted', async () => {
    const { _id: userId } = await createAccount(context)
    const key = await newUpload(userId)
    const mediaItems = [{ storageKey: key, mimeType: 'image/png' }]
    const content = { text: 'Planned', mediaItems }
    const { _id } = await planTestImport(context, userId, [
      { content, selectedPlatforms: ['bluesky'], status: 'DRAFT' },
    ])
    await clean(TOMORROW)
    expect(await isPublic(key)).toBe(true)
    await context.imports.remove(userId, _id)
    await clean(TOMORROW)
    expect(await isPublic(key)).toBe(false)
  })

  it('a clean-up ignores references in posts of other users', async () => {
    const key = await newUpload()
    await postWith(key, { userId: newId() })
    await clean(TOMORROW)
    expect(await isPublic(key)).toBe(false)
  })

  it('a clean-up removes unused avatars, and restores one that a user took meanwhile', async () => {
    const { _id: userId } = await createAccount(context)
    const newAvatar = (owner = userId) => stored(`avatars/${owner}/${randomUUID()}.png`)
    const [current, unused, ownerless] = await Promise.all([newAvatar(), newAvatar(), newAvatar(newId())])
    const setAvatar = (key: string) => context.users.replaceAvatar(userId, context.storage.publicUrl(key))
    await setAvatar(current)
    expect(await clean(23 * HOUR)).toMatchObject({ removed: 0 })
    await clean(TOMORROW)
    expect(await Promise.all([current, unused, ownerless].map(isPublic))).toEqual([true, false, false])
    await setAvatar(unused)
    expect(await clean(TOMORROW)).toMatchObject({ restored: 1, removed: 1 })
    expect(await Promise.all([current, unused].map(isPublic))).toEqual([false, true])
  })

  it('a clean-up removes the media of a deleted post', async () => {
    const key = await newUpload()
    const { _id, userId } = await postWith(key)
    await clean(TOMORROW)
    expect(await isPublic(key)).toBe(true)
    await context.posts.remove(userId, _id)
    await clean(TOMORROW)
    expect(await isPublic(key)).toBe(false)
  })

  it('a clean-up deletes removed files after another day', async () => {
    const key = await newUpload()
    await clean(TOMORROW)
    expect((await fetch(context.storage.publicUrl(removedKey(key)))).status).toBe(403)
    await clean(23 * HOUR)
    expect(await isRemoved(key)).toBe(true)
    expect((await clean(TOMORROW)).deleted).toBeGreaterThan(0)
    expect(await isRemoved(key)).toBe(false)
  })

  it('a clean-up deletes converted copies after a day, unless they were stored again', async () => {
    const [old, fresh] = await Promise.all(
      ['a', 'b'].map((digest) => stored(copyKey(`posts/${newId()}/x.png`, digest.repeat(64), 'image/jpeg'))),
    )
    await clean(23 * HOUR)
    expect(await isPublic(old!)).toBe(true)
    const { storage } = context
    const storedAt = async (key: string) => (key === fresh ? later(TOMORROW).now() : storage.storedAt(key))
    await clean(TOMORROW, { storage: { ...storage, storedAt } })
    expect(await Promise.all([old, fresh].map((key) => isPublic(key!)))).toEqual([false, true])
  })

  it('a clean-up lists a folder page by page', async () => {
    const userId = newId()
    const keys = await Promise.all(Array.from({ length: 501 }, () => newUpload(userId)))
    const { pages, removed } = await clean(TOMORROW)
    expect([removed, pages]).toEqual([501, 5])
    expect(await Promise.all(keys.slice(-3).map(isPublic))).toEqual([false, false, false])
    await clean(TOMORROW)
  })

  it('a clean-up can be killed at any point and repeated', async () => {
    const keys = await Promise.all(Array.from({ length: 6 }, () => newUpload()))
    const usedKey = await newUpload()
    await postWith(usedKey)
    const { storage } = context
    let moves = 0
    const failing: Deps['storage'] = {
      ...storage,
      async move(from, to) {
        if (++moves > 3) throw new Error('killed')
        return storage.move(from, to)
      },
    }
    await expect(clean(TOMORROW, { storage: failing })).rejects.toThrow('killed')
    await clean(TOMORROW)
    expect(await Promise.all([...keys, usedKey].map(isPublic))).toEqual([...keys.map(() => false), true])
  })
})

describe('an upload that a post takes while it is being removed', () => {
  /** Stores the post between the clean-up's read and its first removal. */
  async function takenTooLate(key: string): Promise<void> {
    const { posts } = context
    const namedMedia = async (keys: string[]) => {
      const named = await posts.findNamedMedia(keys)
      if (keys.includes(key)) await postWith(key)
      return named
    }
    await clean(TOMORROW, { posts: partial({ findNamedMedia: namedMedia }) })
    expect([await isPublic(key), await isRemoved(key)]).toEqual([false, true])
  }

  it('an upload used during its removal is available when the post is sent', async () => {
    const media = createMediaSource(context.storage)
    const opened = await newUpload()
    await takenTooLate(opened)
    const { stream } = await media.open(mediaItem(opened))
    expect(Buffer.from(await new Response(stream).arrayBuffer())).toEqual(png)
    const addressed = await newUpload()
    await takenTooLate(addressed)
    expect((await fetch(await media.publicUrl(mediaItem(addressed)))).status).toBe(200)
    await clean(TOMORROW)
    expect(await Promise.all([opened, addressed].map(isPublic))).toEqual([true, true])
  })

  it('the next clean-up restores an upload used during its removal', async () => {
    const key = await newUpload()
    await takenTooLate(key)
    expect((await clean(TOMORROW)).restored).toBe(1)
    expect([await isPublic(key), await isRemoved(key)]).toEqual([true, false])
  })
})

it('the Schedule cleanUploads runs the clean-up', async () => {
  const key = await newUpload()
  const tomorrow = await createContext(context.config, { clock: later(TOMORROW) })
  const workers = await startWorkers(tomorrow)
  const connection = await Connection.connect({ address: context.config.TEMPORAL_ADDRESS })
  try {
    await context.orchestrator.ensureSchedules(DAY)
    const client = new Client({ connection, namespace: context.config.TEMPORAL_NAMESPACE })
    const schedule = client.schedule.getHandle('cleanUploads')
    await schedule.trigger()
    const { info } = await poll(
      () => schedule.describe(),
      (described) => described.info.recentActions.length > 0,
    )
    const { workflow } = info.recentActions.at(-1)!.action
    const result = await client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId).result()
    expect(result).toMatchObject({ removed: 1 })
    expect(await isPublic(key)).toBe(false)
  } finally {
    await connection.close()
    await workers.stop()
    await tomorrow.close()
  }
})
