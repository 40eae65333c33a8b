import type { Answer } from '../fault-proxy.ts'
import type { Account, Status } from './state.ts'
import { escapeHtml } from './text.ts'

function page(status: number, title: string, body: string): Answer {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><h1>${escapeHtml(title)}</h1>${body}</html>\n`
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html }
}

export function errorPage(status: number, message: string): Answer {
  return page(status, 'An error has occurred', `<p>${escapeHtml(message)}</p>`)
}

/** Nobody has a password here: whoever sits at the sandbox may be anybody. The form goes back to this very address. */
export function authorizePage(appName: string, scopes: string[], accounts: Account[]): Answer {
  const options = accounts.map(({ id, username }) => `<option value="${id}">@${escapeHtml(username)}</option>`)
  return page(
    200,
    'Authorization required',
    `<p><strong>${escapeHtml(appName)}</strong> would like permission to access your account: ${scopes.map(escapeHtml).join(', ')}</p>
<form method="post">
<p><label>Account <select name="account">${options.join('')}</select></label></p>
<p><button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></p>
</form>`,
  )
}

/** What one finds at the sandbox's Mastodon. */
export function startPage(accounts: Account[], statuses: { status: Status; account: Account; html: string }[]): Answer {
  const people = accounts.map(
    ({ username, displayName }) =>
      `<li><a href="/@${escapeHtml(username)}">@${escapeHtml(username)}</a> ${escapeHtml(displayName)}</li>`,
  )
  return page(200, 'Mastodon sandbox', `<h2>Accounts</h2><ul>${people.join('')}</ul><h2>Posts</h2>${list(statuses)}`)
}

export function statusesPage(title: string, statuses: { status: Status; account: Account; html: string }[]): Answer {
  return page(200, title, list(statuses))
}

function list(statuses: { status: Status; account: Account; html: string }[]): string {
  return statuses
    .map(({ status, account, html }) => {
      const address = `/@${escapeHtml(account.username)}/${status.id}`
      const files = status.mediaIds.map((id) => `<li><a href="/media/${id}">file ${id}</a></li>`)
      return `<article><p>@${escapeHtml(account.username)} <a href="${address}">${status.createdAt}</a></p>${html}<ul>${files.join('')}</ul></article><hr>`
    })
    .join('')
}
