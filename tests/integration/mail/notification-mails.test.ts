import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMail } from '../../../src/commands/notifications/mail-secrets.ts'
import type { Mail } from '../../../src/store/notifications/mails.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { newNotification } from '../../support/notifications.ts'
import { unique } from '../../support/servers.ts'
import { startMailWorld } from './world.ts'

let world: Awaited<ReturnType<typeof startMailWorld>>
beforeAll(async () => {
  world = await startMailWorld()
})
afterAll(() => world?.stop())

const mailsOf = (who: SignedIn) =>
  world.context.database.connection.collection<Mail>('mails').find({ userId: who.user._id }).toArray()

function notify(who: SignedIn, changes: Parameters<typeof newNotification>[1] = {}): Promise<boolean> {
  return world.context.notifications.insertOnce(newNotification(who.user._id, { kind: 'postFailed', ...changes }))
}

const aboutPost = (id = unique('post')) => ({ reference: { type: 'post', id, model: 'Post' } })

describe('mails about notifications', () => {
  it('a failed post is mailed once, whichever of its accounts failed', async () => {
    const who = await signIn(world.context)
    const post = aboutPost()
    const dedupeKey = unique('event')
    await Promise.all([notify(who, { ...post, dedupeKey }), notify(who, post)])
    await notify(who, post)
    await notify(who, { ...post, dedupeKey })
    const [mail] = await world.catcher.mails.until(who.user.email)
    await world.untilEnded()
    expect(mail).toMatchObject({
      subject: 'A post could not be published',
      text: expect.stringContaining(`/posts/${post.reference.id}`),
    })
    expect(world.catcher.mails.list(who.user.email)).toHaveLength(1)
    expect(await mailsOf(who)).toMatchObject([{ kind: 'notification', state: 'sent', sealed: null }])
  })

  it('a notification of a transaction is mailed with its commit, and not after an abort', async () => {
    const who = await signIn(world.context)
    const { database, notifications } = world.context
    const records = await notifications.toRecords([newNotification(who.user._id, { kind: 'security' })])
    const failing = database.transaction(async (session) => {
      await notifications.insert(records, session)
      throw new Error('came to nothing')
    })
    await expect(failing).rejects.toThrow('came to nothing')
    expect(await mailsOf(who)).toEqual([])
    await database.transaction((session) => notifications.insert(records, session))
    notifications.beginSending(records)
    expect(await world.catcher.mails.until(who.user.email)).toHaveLength(1)
  })

  it('a user who has switched the mail off, or is disabled, gets none', async () => {
    const [off, disabled] = [await signIn(world.context), await signIn(world.context)]
    const { users, database } = world.context
    await users.setNotificationPreferences(off.user._id, { postFailed: { mail: false } })
    await database.transaction((session) => users.disable(disabled.user._id, session))
    await Promise.all([off, disabled].map((who) => notify(who)))
    await notify(off, { kind: 'postPublished' })
    expect(await Promise.all([off, disabled].map(mailsOf))).toEqual([[], []])
  })

  it('a user gets ten mails of a kind in an hour, and another kind is mailed all the same', async () => {
    const who = await signIn(world.context)
    await Promise.all(Array.from({ length: 15 }, () => notify(who)))
    expect(await mailsOf(who)).toHaveLength(10)
    await notify(who, { kind: 'security' })
    expect(await mailsOf(who)).toHaveLength(11)
    expect(await world.context.notifications.listOf(who.user._id, 20)).toHaveLength(16)
  })

  it('a mail whose notification was not stored when the process died is sent once', async () => {
    const who = await signIn(world.context)
    const news = newNotification(who.user._id, { kind: 'postFailed' })
    const [record] = await world.context.notifications.toRecords([news])
    await world.context.mails.insertMissing([record!.mail!])
    expect(await world.context.notifications.insertOnce(news)).toBe(true)
    expect(await mailsOf(who)).toHaveLength(1)
  })

  it('a mail contains no text of the user', async () => {
    const who = await signIn(world.context)
    const news = newNotification(who.user._id, { kind: 'postFailed', message: 'Posting “Buy now at evil.test” failed' })
    const [record] = await world.context.notifications.toRecords([news])
    const { _id, sealed } = record!.mail!
    const { to, text, html } = openMail(world.context.cipher, _id, sealed!)
    expect(to).toBe(who.user.email)
    expect(text + html).not.toContain('evil')
  })
})
