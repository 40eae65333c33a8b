import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime from 'postal-mime'

/** A mail as its reader sees it. */
export interface CaughtMail {
  id: string
  messageId: string
  from: string
  to: string[]
  subject: string
  text: string
  html: string
  receivedAt: string
}

const MAX_STORED = 1_000

/** Stores all mails across restarts. */
export function createCaughtMails(dir: string) {
  const file = join(dir, 'mails.jsonl')
  const mails: CaughtMail[] = readStored(file)
  const waiting = new Set<() => void>()

  return {
    async add(raw: Buffer, { from, to }: Pick<CaughtMail, 'from' | 'to'>): Promise<void> {
      const { messageId = '', subject = '', text = '', html = '' } = await PostalMime.parse(raw)
      const id = String(Number(mails.at(-1)?.id ?? 0) + 1)
      const words = { subject, text: text.trim(), html: html.trim() }
      const mail = { id, messageId, from, to, ...words, receivedAt: new Date().toISOString() }
      appendFileSync(file, `${JSON.stringify(mail)}\n`, { mode: 0o600 })
      mails.push(mail)
      if (mails.length > MAX_STORED) mails.shift()
      for (const check of waiting) check()
    },

    find: (id: string): CaughtMail | undefined => mails.find((mail) => mail.id === id),

    list,

    /** Resolves with the mails to this address when there are `count` of them. */
    until(to: string, count = 1): Promise<CaughtMail[]> {
      return new Promise((resolve) => {
        const check = () => {
          const found = list(to)
          if (found.length < count) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      })
    },
  }

  /** Lists the mails to an address, or all mails, newest first. */
  function list(to?: string): CaughtMail[] {
    const wanted = to?.toLowerCase()
    const fits = (mail: CaughtMail) => mail.to.some((address) => address.toLowerCase() === wanted)
    return mails.filter((mail) => wanted === undefined || fits(mail)).toReversed()
  }
}

function readStored(file: string): CaughtMail[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as CaughtMail]
      } catch {
        // The incomplete last line after a kill, or the end.
        return []
      }
    })
    .slice(-MAX_STORED)
}
