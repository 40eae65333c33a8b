import type { SandboxResponse } from '../proxied-platform.ts'
import { escapeHtml, page } from './html.ts'

/** A post as a page shows it. */
export interface ShownPost {
  id: string
  /** The address within the sandbox. */
  address: string
  author: string
  text: string
  link: string | null
  media: { url: string; mimeType: string; altText: string }[]
  createdAt: string
  /** The reason why the public cannot see it yet. */
  note?: string
}

interface ShownAccount {
  address: string
  name: string
  note: string
}

/** The start page of a simulated platform. */
export function startPage(title: string, accounts: ShownAccount[], posts: ShownPost[]): SandboxResponse {
  const people = accounts.map(
    ({ address, name, note }) =>
      `<li><a href="${escapeHtml(address)}">${escapeHtml(name)}</a> ${escapeHtml(note)}</li>`,
  )
  return page(200, title, `<h2>Accounts</h2><ul>${people.join('')}</ul><h2>Posts</h2>${list(posts)}`)
}

export function postsPage(title: string, posts: ShownPost[]): SandboxResponse {
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
