import type { SandboxResponse } from '../proxied-platform.ts'
import { consentPage, nameField } from '../shared/consent.ts'
import { escapeHtml, page } from '../shared/html.ts'
import type { Account, Status } from './state.ts'

export function authorizePage(app: string, scopes: string[], accounts: Account[]): SandboxResponse {
  const people = accounts.map(({ id, username }) => ({ id, label: `@${username}` }))
  const newFields = nameField('User name', 'letters, digits and _')
  return consentPage({ title: 'Authorization required', app, scopes, accounts: people, newFields })
}

/** The start page of a simulated Mastodon server. */
export function startPage(
  title: string,
  accounts: Account[],
  statuses: { status: Status; account: Account; html: string }[],
): SandboxResponse {
  const people = accounts.map(
    ({ username, displayName }) =>
      `<li><a href="/@${escapeHtml(username)}">@${escapeHtml(username)}</a> ${escapeHtml(displayName)}</li>`,
  )
  return page(200, title, `<h2>Accounts</h2><ul>${people.join('')}</ul><h2>Posts</h2>${list(statuses)}`)
}

export function statusesPage(
  title: string,
  statuses: { status: Status; account: Account; html: string }[],
): SandboxResponse {
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
