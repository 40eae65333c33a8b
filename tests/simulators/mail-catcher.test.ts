import { expect, it, onTestFinished } from 'vitest'
import type { CaughtMail } from '../../sandbox/services/mail/caught-mails.ts'
import { startMailCatcher, type MailCatcher } from '../../sandbox/services/mail.ts'
import { createMailer } from '../../src/integrations/mail/mail.ts'
import { controlOf } from '../support/platform-control.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function start(dir?: string): Promise<MailCatcher> {
  const catcher = await startMailCatcher(dir === undefined ? {} : { dir })
  onTestFinished(catcher.stop)
  return catcher
}

const link = 'http://localhost:3000/reset-password?token=a&email=b'
const words = {
  subject: 'Hello <b>there</b>',
  text: `Hello <b>there</b>\n${link}`,
  html: `<p>Hello</p><a href="${link}">there</a>`,
}

async function send({ smtpUrl }: MailCatcher, id: string, to: string): Promise<void> {
  const mailer = createMailer({ url: smtpUrl, from: 'post@once.test' })
  try {
    await mailer.send({ id, to, ...words }, { signal: new AbortController().signal })
  } finally {
    await mailer.close()
  }
}

const get = async (catcher: MailCatcher, path: string) => (await fetch(`${catcher.url}${path}`)).text()
const mailsOf = async (catcher: MailCatcher, query = '') =>
  JSON.parse(await get(catcher, `/mails${query}`)) as CaughtMail[]

it('the mail catcher returns its mails as JSON, newest first, optionally of one address', async () => {
  const catcher = await start()
  await send(catcher, 'x1', 'ann@example.test')
  await send(catcher, 'x2', 'Bob+1@example.test')
  expect((await mailsOf(catcher)).map(({ messageId }) => messageId)).toEqual(['<x2@once.test>', '<x1@once.test>'])
  expect(await mailsOf(catcher, `?to=${encodeURIComponent('bob+1@example.test')}`)).toMatchObject([
    { to: ['Bob+1@example.test'], from: 'post@once.test', ...words },
  ])
})

it("a mail's page shows its links and escapes its HTML", async () => {
  const catcher = await start()
  await send(catcher, 'x1', 'ann@example.test')
  const list = await get(catcher, '/')
  expect(list).toContain('Hello &lt;b&gt;there&lt;/b&gt;')
  const [, path] = /href="(\/mails\/\d+)"/.exec(list)!
  const page = await get(catcher, path!)
  expect(page).toContain(`<a href="${link.replace('&', '&amp;')}">`)
  expect(page).toContain('<iframe sandbox="allow-popups allow-popups-to-escape-sandbox"')
  expect(page).not.toContain('<b>there</b>')
  expect((await fetch(`${catcher.url}/mails/99`)).status).toBe(404)
})

it('mails and ports survive a restart', async () => {
  const dir = temporaryFolder()
  const first = await startMailCatcher({ dir })
  await send(first, 'x1', 'ann@example.test')
  await first.stop()
  const second = await start(dir)
  await send(second, 'x2', 'ann@example.test')
  expect([second.url, second.smtpUrl]).toEqual([first.url, first.smtpUrl])
  expect((await mailsOf(second)).map(({ id }) => id)).toEqual(['2', '1'])
})

it('faults set over HTTP affect SMTP', async () => {
  const catcher = await start()
  const control = controlOf(catcher.control)
  await control.fault({ method: 'RCPT', times: 1, action: { status: 450 } })
  await expect(send(catcher, 'x1', 'ann@example.test')).rejects.toMatchObject({ isFinal: false })
  await send(catcher, 'x1', 'ann@example.test')
  await control.fault({ action: { cut: true } })
  await expect(send(catcher, 'x2', 'ann@example.test')).rejects.toMatchObject({ isFinal: false })
  await control.clearFaults()
  await send(catcher, 'x2', 'ann@example.test')
  expect(await mailsOf(catcher)).toHaveLength(2)
  await expect(control.fault({ action: {} })).rejects.toThrow('returned 400')
})
