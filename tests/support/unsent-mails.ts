import { systemClock } from '../../src/clock.ts'
import { openMail, type MailContent } from '../../src/commands/notifications/mail-secrets.ts'
import type { Config } from '../../src/config/schema.ts'
import { normalizeEmail } from '../../src/domain/users/user.ts'
import type { Mail } from '../../src/store/notifications/mails.ts'
import { apiWorld } from './api.ts'
import { unique } from './servers.ts'

/** Starts the API without a worker, so that mails stay in the database and can be read there. The clock can be moved forward. */
export async function startUnsentMails(overrides: Partial<Config> = {}, parts: Parameters<typeof apiWorld>[1] = {}) {
  let shiftMs = 0
  const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) }
  const unlimited = { OTP_PER_HOUR: 1_000, RESET_MAILS_PER_HOUR: 1_000, MAILS_PER_SENDER_PER_HOUR: 1_000_000 }
  const world = await apiWorld({ ...unlimited, ...overrides }, { clock, ...parts })
  const { context, app } = world
  const stored = () => context.database.connection.collection<Mail>('mails').find().sort({ _id: 1 }).toArray()

  return {
    ...world,
    newAddress: () => `${unique('ann')}@example.test`,

    post: (path: string, payload: object, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
      app.inject({ method: 'POST', url: `/api/auth/${path}`, payload, headers, remoteAddress }),

    /** Returns all mails to the address, oldest first. */
    async mailsTo(address: string): Promise<(Mail & MailContent)[]> {
      const mails = (await stored()).map((mail) => ({ ...mail, ...openMail(context.cipher, mail._id, mail.sealed!) }))
      return mails.filter(({ to }) => to === normalizeEmail(address))
    },

    stored,

    /** Runs a function with the clock moved forward. */
    async later<T>(ms: number, act: () => Promise<T>): Promise<T> {
      shiftMs += ms
      try {
        return await act()
      } finally {
        shiftMs -= ms
      }
    },
  }
}

export type UnsentMails = Awaited<ReturnType<typeof startUnsentMails>>

/** Returns the code from the newest mail to the address. */
export async function codeFor(world: UnsentMails, email: string): Promise<string> {
  const mail = (await world.mailsTo(email)).at(-1)
  const code = /^\d{6}$/m.exec(mail?.text ?? '')?.[0]
  if (code === undefined) throw new Error(`no code was sent to ${email}`)
  return code
}
