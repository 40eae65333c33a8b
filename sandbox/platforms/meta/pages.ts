import type { Answer } from '../fault-proxy.ts'
import { consentPage } from '../shared/consent.ts'
import { escapeHtml, page } from '../shared/html.ts'
import type { Page, Person } from './state.ts'

/** What the person may keep from the application is ticked to be kept back. */
export function dialogPage(app: string, scopes: string[], persons: { person: Person; pages: Page[] }[]): Answer {
  const accounts = persons.map(({ person, pages }) => {
    const names = pages.map(({ name }) => name).join(', ') || 'no page'
    return { id: person.id, label: `${person.name} (${names})` }
  })
  const boxes = (name: string, entries: [value: string, label: string][]) =>
    entries
      .map(
        ([value, label]) =>
          `<li><label><input type="checkbox" name="${name}" value="${escapeHtml(value)}"> ${escapeHtml(label)}</label></li>`,
      )
      .join('')
  const allowances = scopes.map((scope): [string, string] => [scope, scope])
  const pages = persons.flatMap(({ pages: own }) => own).map(({ id, name }): [string, string] => [id, name])
  const more = `<p>Keep back permissions:</p><ul>${boxes('decline', allowances)}</ul><p>Keep back pages:</p><ul>${boxes('hide', pages)}</ul>`
  return consentPage({ title: 'Log in with Facebook', app, scopes, accounts, more })
}

/** A post as it is shown to whoever looks. */
export interface ShownPost {
  id: string
  /** Within the sandbox. */
  address: string
  author: string
  text: string
  link: string | null
  media: { url: string; mimeType: string; altText: string }[]
  createdAt: string
  /** What keeps it from being seen by others yet. */
  note?: string
}

export interface ShownAccount {
  address: string
  name: string
  note: string
}

/** What one finds at the sandbox's Facebook and Instagram. */
export function startPage(accounts: ShownAccount[], posts: ShownPost[]): Answer {
  const people = accounts.map(
    ({ address, name, note }) =>
      `<li><a href="${escapeHtml(address)}">${escapeHtml(name)}</a> ${escapeHtml(note)}</li>`,
  )
  return page(
    200,
    'Facebook and Instagram sandbox',
    `<h2>Accounts</h2><ul>${people.join('')}</ul><h2>Posts</h2>${list(posts)}`,
  )
}

export function postsPage(title: string, posts: ShownPost[]): Answer {
  return page(200, title, list(posts))
}

function list(posts: ShownPost[]): string {
  return posts
    .map(({ address, author, text, link, media, createdAt, note }) => {
      const words = escapeHtml(text).replaceAll('\n', '<br>')
      const shown = media.map(({ url, mimeType, altText }) =>
        mimeType.startsWith('video/')
          ? `<video controls height="200" src="${escapeHtml(url)}"></video>`
          : `<img height="200" src="${escapeHtml(url)}" alt="${escapeHtml(altText)}">`,
      )
      const more = [
        ...(link === null ? [] : [`<p><a href="${escapeHtml(link)}" rel="nofollow">${escapeHtml(link)}</a></p>`]),
        ...(note === undefined ? [] : [`<p><em>${escapeHtml(note)}</em></p>`]),
      ]
      return `<article><p>${escapeHtml(author)} <a href="${escapeHtml(address)}">${createdAt}</a></p><p>${words}</p>${shown.join('')}${more.join('')}</article><hr>`
    })
    .join('')
}
