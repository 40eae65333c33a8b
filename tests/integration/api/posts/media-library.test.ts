import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/clock.ts'
import { deleteUpload } from '../../../../src/commands/media/delete-upload.ts'
import { checkUploads } from '../../../../src/commands/media/upload-quota.ts'
import type { CommandContext } from '../../../../src/commands/context.ts'
import { createPost } from '../../../../src/commands/posts/create-post.ts'
import { updatePost } from '../../../../src/commands/posts/update-post.ts'
import { removedKey } from '../../../../src/domain/media/storage-keys.ts'
import { HOUR, MINUTE } from '../../../../src/domain/shared/times.ts'
import type { Post } from '../../../../src/domain/posts/post.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { planTestImport } from '../../../support/imports.ts'

let world: ApiWorld
let png: Buffer
let shiftMs = 0
const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) }
beforeAll(async () => {
  world = await apiWorld({}, { clock })
  png = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
})
afterAll(() => world?.close())

const send = (who: SignedIn, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
  world.app.inject({ method, url: `/api/posts${url}`, headers: who.headers, ...(payload ? { payload } : {}) })

/** Uploads a file the way a client does. */
async function upload(who: SignedIn, contentType = 'image/png'): Promise<string> {
  const { data } = (await send(who, 'POST', '/media/upload', { contentType, sizeBytes: png.length })).json()
  const put = await fetch(data.uploadUrl, { method: 'PUT', body: png, headers: { 'content-type': contentType } })
  expect(put.status).toBe(200)
  return data.storageKey
}

const toId = (key: string) => key.split('/').at(-1)!
const draft = (keys: string[]) => ({
  content: { text: 'Hello', mediaItems: keys.map((storageKey) => ({ storageKey, mimeType: 'image/png' })) },
  selectedPlatforms: ['bluesky' as const],
  status: 'DRAFT' as const,
})
const createDraft = async (who: SignedIn, ...keys: string[]): Promise<string> =>
  (await send(who, 'POST', '', draft(keys))).json().data.postId
const setStatus = (postId: string, status: Post['status']) =>
  world.context.database.connection.collection<Post>('posts').updateOne({ _id: postId }, { $set: { status } })
const list = async (who: SignedIn, query = '') => (await send(who, 'GET', `/media${query}`)).json().data
const remove = (who: SignedIn, key: string) => send(who, 'DELETE', `/media/${toId(key)}`)
const isStored = async (key: string) => (await world.context.storage.sizeOf(key)) !== null
/** Ends the hold on media of posts that were just stored. */
const endHolds = () => void (shiftMs += 2 * MINUTE)

describe('the list of uploaded media', () => {
  it('the list has uploads newest first, with their posts, by kind and use, and with the quota', async () => {
    const who = await signIn(world.context)
    const [used, unused, video] = [await upload(who), await upload(who), await upload(who, 'video/mp4')]
    const postId = await createDraft(who, used)
    await send(who, 'POST', '/media/upload', { contentType: 'image/png', sizeBytes: 9 })

    const { media, quota, total } = await list(who)
    expect(media.map(({ storageKey }: { storageKey: string }) => storageKey)).toEqual([video, unused, used])
    expect(media[2]).toMatchObject({
      ...{ id: toId(used), mimeType: 'image/png', sizeBytes: png.length, postCount: 1 },
      ...{ posts: [{ postId, status: 'DRAFT' }], storageUrl: world.context.storage.publicUrl(used) },
    })
    expect([total, quota.used]).toEqual([4, 2 * png.length + 9])
    const keysOf = async (query: string) =>
      (await list(who, query)).media.map(({ storageKey }: { storageKey: string }) => storageKey)
    expect(await keysOf('?kind=video')).toEqual([video])
    expect(await keysOf('?used=true')).toEqual([used])
    expect(await keysOf('?used=false')).toEqual([video, unused])
    expect(await keysOf('?limit=1&page=4')).toEqual([used])
    expect(await keysOf('?kind=image&used=false')).toEqual([unused])
  })

  it('a single upload shows the size of its picture, and other users do not find it', async () => {
    const [who, other] = [await signIn(world.context), await signIn(world.context)]
    const key = await upload(who)
    const found = await send(who, 'GET', `/media/${toId(key)}`)
    expect(found.json().data).toMatchObject({ width: 30, height: 20, postCount: 0, posts: [] })
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await send(other, method, `/media/${toId(key)}`)).statusCode).toBe(404)
    }
    expect(await isStored(key)).toBe(true)
  })
})

describe('the deletion of an upload', () => {
  it('an unused upload is deleted, refuses later posts, and leaves the quota when its address has expired', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    await world.context.storage.put({ key: removedKey(key), body: png, contentType: 'image/png' })
    expect((await remove(who, key)).statusCode).toBe(200)
    expect([await isStored(key), await isStored(removedKey(key))]).toEqual([false, false])
    expect((await list(who)).media).toEqual([])
    expect((await remove(who, key)).statusCode).toBe(404)
    const refused = await send(who, 'POST', '', draft([key]))
    expect(refused.json()).toMatchObject({ statusCode: 400, errors: [{ code: 'MEDIA_MISSING' }] })
    expect((await list(who)).quota.used).toBe(png.length)
    shiftMs += 16 * MINUTE
    expect((await list(who)).quota.used).toBe(0)
  })

  it.each(['DRAFT', 'SCHEDULED', 'PROCESSING', 'PARTIAL_SUCCESS', 'FAILED'] as const)(
    'a post with the status %s keeps its media from being deleted',
    async (status) => {
      const who = await signIn(world.context)
      const key = await upload(who)
      const postId = await createDraft(who, key)
      await setStatus(postId, status)
      endHolds()
      const refused = await remove(who, key)
      expect(refused.json()).toMatchObject({ statusCode: 409, code: 'MEDIA_IN_USE', postIds: [postId] })
      expect(await isStored(key)).toBe(true)
    },
  )

  it.each(['COMPLETED', 'CANCELLED'] as const)(
    'a post with the status %s keeps its media item after the file is deleted, also in its duplicate',
    async (status) => {
      const who = await signIn(world.context)
      const key = await upload(who)
      const postId = await createDraft(who, key)
      await setStatus(postId, status)
      endHolds()
      expect((await remove(who, key)).statusCode).toBe(200)
      const { post } = (await send(who, 'GET', `/${postId}`)).json().data
      expect(post.content.mediaItems).toMatchObject([{ storageKey: key }])
      const copy = (await send(who, 'POST', `/${postId}/duplicate`)).json().data.postId
      expect((await send(who, 'PATCH', `/${copy}`, { content: { text: 'Again' } })).statusCode).toBe(200)
    },
  )

  it('media that only one account of a post or a row of an import uses is not deleted', async () => {
    const who = await signIn(world.context)
    const [ofAccount, ofRow] = [await upload(who), await upload(who)]
    const postId = await createDraft(who)
    const accountSpecificContent = { [postId]: { mediaItems: draft([ofAccount]).content.mediaItems } }
    await world.context.database.connection
      .collection<Post>('posts')
      .updateOne({ _id: postId }, { $set: { accountSpecificContent: accountSpecificContent as never } })
    expect(await world.context.posts.findNamedMedia([ofAccount, ofRow])).toEqual(new Set([ofAccount]))
    await planTestImport(world.context, who.user._id, [draft([ofRow])])
    for (const key of [ofAccount, ofRow]) expect((await remove(who, key)).json().code).toBe('MEDIA_IN_USE')
  })

  it('the media of threads are listed as used and held, for all platforms and for one', async () => {
    const who = await signIn(world.context)
    const [common, ofPlatform] = [await upload(who), await upload(who)]
    const segments = (key: string) => [{ text: 'Two', mediaItems: draft([key]).content.mediaItems }]
    const { data } = (
      await send(who, 'POST', '', {
        ...draft([]),
        content: { text: 'One', segments: segments(common) },
        platformSpecificContent: { bluesky: { segments: segments(ofPlatform) } },
      })
    ).json()
    for (const key of [common, ofPlatform]) {
      const found = (await send(who, 'GET', `/media/${toId(key)}`)).json().data
      expect(found.posts).toMatchObject([{ postId: data.postId }])
      expect((await remove(who, key)).json().code).toBe('MEDIA_IN_USE')
    }
    expect(await world.context.posts.findNamedMedia([common, ofPlatform])).toEqual(new Set([common, ofPlatform]))
    await send(who, 'PATCH', `/${data.postId}`, { content: { segments: [] } })
    endHolds()
    expect((await remove(who, common)).statusCode).toBe(200)
  })

  it('a deletion that was killed before the file was gone is completed by the sweeper', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    const storage = { ...world.context.storage, remove: () => Promise.reject(new Error('killed')) }
    const deleting = deleteUpload({ ...world.context, storage }, { userId: who.user._id, storageKey: key })
    await expect(deleting).rejects.toThrow('killed')
    expect([await isStored(key), (await list(who)).media]).toEqual([true, []])
    shiftMs += 2 * MINUTE
    await checkUploads(world.context, 1_000)
    expect(await isStored(key)).toBe(false)
  })

  it('a file that is uploaded again after its deletion is deleted when its address has expired', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    await remove(who, key)
    await world.context.storage.put({ key, body: png, contentType: 'image/png' })
    shiftMs += 2 * HOUR
    await checkUploads(world.context, 1_000)
    expect(await isStored(key)).toBe(false)
  })
})

describe('a post that is stored while its media is being deleted', () => {
  const deleteWith = (who: SignedIn, storageKey: string, parts: Partial<CommandContext>) =>
    deleteUpload({ ...world.context, ...parts }, { userId: who.user._id, storageKey })

  it('a post that holds the file first is stored, and the deletion is refused', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    const { context } = world
    const refused: unknown[] = []
    const storePost: CommandContext['storePost'] = async (post) => {
      refused.push(await deleteWith(who, key, {}).catch((error: unknown) => error))
      await context.storePost(post)
    }
    const request = {
      userId: who.user._id,
      input: draft([key]),
      metadata: { source: 'web' as const, client: 'console' as const },
      idempotency: null,
    }
    expect((await createPost({ ...context, storePost }, request)).created).toBe(true)
    expect(refused).toMatchObject([{ code: 'MEDIA_IN_USE' }])
    expect(await isStored(key)).toBe(true)
  })

  it('an edit that holds the file first is stored, and the deletion is refused', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    const { context } = world
    const postId = await createDraft(who)
    const refused: unknown[] = []
    const transition: typeof context.posts.transition = async (...change) => {
      refused.push(await deleteWith(who, key, {}).catch((error: unknown) => error))
      return context.posts.transition(...change)
    }
    const update = { kind: 'patch' as const, input: { content: draft([key]).content } }
    const request = { userId: who.user._id, postId, update, assertMayPublish: () => {} }
    await updatePost({ ...context, posts: { ...context.posts, transition } }, request)
    expect(refused).toMatchObject([{ code: 'MEDIA_IN_USE' }])
    expect(await isStored(key)).toBe(true)
  })

  it('a post that comes after the mark of the deletion is refused', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    const { storage } = world.context
    const answers: number[] = []
    const racing: typeof storage.remove = async (...call) => {
      answers.push((await send(who, 'POST', '', draft([key]))).statusCode)
      await storage.remove(...call)
    }
    await deleteWith(who, key, { storage: { ...storage, remove: racing } })
    expect(answers).toEqual([400, 400])
    expect(await isStored(key)).toBe(false)
  })

  it('a post that is stored between the check and the mark takes the deletion back', async () => {
    const who = await signIn(world.context)
    const key = await upload(who)
    const { uploads } = world.context
    const racing: typeof uploads.markDeleted = async (found) => {
      await createDraft(who, key)
      endHolds()
      return uploads.markDeleted(found)
    }
    const deleting = deleteWith(who, key, { uploads: { ...uploads, markDeleted: racing } })
    await expect(deleting).rejects.toMatchObject({ code: 'MEDIA_IN_USE' })
    expect(await isStored(key)).toBe(true)
    expect((await list(who)).media).toMatchObject([{ storageKey: key, postCount: 1 }])
  })

  it('of concurrent creates and deletions, no accepted post loses its file', async () => {
    const who = await signIn(world.context)
    const keys = await Promise.all(Array.from({ length: 12 }, () => upload(who)))
    await Promise.all(
      keys.map(async (key) => {
        const [created] = await Promise.all([send(who, 'POST', '', draft([key])), remove(who, key)])
        expect(await isStored(key)).toBe(created.statusCode === 201)
      }),
    )
  })
})
