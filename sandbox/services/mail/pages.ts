import type { SandboxResponse } from '../../platforms/proxied-platform.ts'
import { errorPage, escapeHtml, page } from '../../platforms/shared/html.ts'
import type { CaughtMail } from './caught-mails.ts'

export function listPage(mails: CaughtMail[]): SandboxResponse {
  const rows = mails.map(
    ({ id, to, subject, receivedAt }) =>
      `<li><a href="/mails/${id}">${escapeHtml(subject)}</a> to <b>${escapeHtml(to.join(', '))}</b>, ${receivedAt}</li>`,
  )
  const hint = '<p>Every mail that this sandbox sends arrives here. As JSON: <a href="/mails">/mails</a>.</p>'
  return page(200, 'Mails', `${hint}${rows.length === 0 ? '<p>None yet.</p>' : `<ul>${rows.join('')}</ul>`}`)
}

const LINK = /https?:\/\/[^\s<>"]+/g

/** Shows both forms of a mail. Its HTML can only open links in a new tab. */
export function mailPage(mail: CaughtMail | undefined): SandboxResponse {
  if (!mail) return errorPage(404, 'This mail does not exist')
  const { from, to, subject, text, html, receivedAt, messageId } = mail
  const head = `<p>From ${escapeHtml(from)} to <b>${escapeHtml(to.join(', '))}</b>, ${receivedAt}, ${escapeHtml(messageId)}</p>`
  const plain = `<h2>Plain text</h2><pre style="white-space:pre-wrap">${withLinks(text)}</pre>`
  const frame = `<h2>HTML</h2><iframe sandbox="allow-popups allow-popups-to-escape-sandbox" style="width:100%;height:24rem" srcdoc="${escapeHtml(`<base target="_blank">${html}`)}"></iframe>`
  return page(200, subject, `<p><a href="/">All mails</a></p>${head}${plain}${frame}`)
}

function withLinks(text: string): string {
  let end = 0
  const parts = [...text.matchAll(LINK)].flatMap((match) => {
    const before = text.slice(end, match.index)
    end = match.index + match[0].length
    const address = escapeHtml(match[0])
    return [escapeHtml(before), `<a href="${address}">${address}</a>`]
  })
  return [...parts, escapeHtml(text.slice(end))].join('')
}
