import { createServer } from 'node:http'
import { platformLabel, type Platform } from '../src/domain/platforms.ts'
import type { LedgerEntry } from './platforms/fault-proxy.ts'
import { closeServer, listenOnLoopback } from './platforms/listen.ts'
import { escapeHtml, page } from './platforms/shared/html.ts'
import type { Front } from './platforms/shared/simulator.ts'
import type { RunningService } from './services/all.ts'

const SHOWN_POSTS = 50
const ASKED_WITHIN_MS = 5_000

/** One page that shows what the public sees on every platform, its accounts and their latest posts, and leads to the other servers. */
export async function startStartPage(
  fronts: [Platform, Front][],
  services: Pick<RunningService, 'title' | 'url'>[],
  port: number,
) {
  const server = createServer((request, response) => {
    void Promise.all(fronts.map(sectionOf)).then((sections) => {
      const { status, headers, body } = page(200, 'postonce sandbox', `${linksTo(services)}${sections.join('')}`)
      response.writeHead(request.url === '/' ? status : 404, headers).end(request.url === '/' ? body : '')
    })
  })
  const url = await listenOnLoopback(server, port)
  return { url: `${url}/`, stop: () => closeServer(server) }
}

function linksTo(services: Pick<RunningService, 'title' | 'url'>[]): string {
  const links = services.map(({ title, url }) => `<a href="${url}">${escapeHtml(title)}</a>`)
  return links.length === 0 ? '' : `<p>Besides the platforms: ${links.join(', ')}</p>`
}

async function sectionOf([platform, { url, control }]: [Platform, Front]): Promise<string> {
  const links = `<a href="${url}/">server</a>, <a href="${control}/ledger">ledger</a>, <a href="${control}/requests">requests</a>, <a href="${control}/faults">faults</a>`
  const heading = `<h2>${platformLabel(platform)}</h2><p>${links}</p>`
  try {
    const answer = await fetch(`${control}/ledger`, { signal: AbortSignal.timeout(ASKED_WITHIN_MS) })
    const posts = (await answer.json()) as LedgerEntry[]
    const latest = posts.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, SHOWN_POSTS)
    const accounts = [...new Set(posts.map(({ account }) => account))]
    return `${heading}<p>Accounts with posts: ${accounts.map(escapeHtml).join(', ') || 'none'}</p>${latest.map(articleOf).join('')}`
  } catch {
    return `${heading}<p>It does not answer.</p>`
  }
}

function articleOf({ account, text, media, createdAt }: LedgerEntry): string {
  const files = media.map(({ type, altText }) => `<li>${escapeHtml(type)} ${escapeHtml(altText)}</li>`)
  return `<article><p><b>${escapeHtml(account)}</b> ${escapeHtml(createdAt)}</p><p>${escapeHtml(text)}</p><ul>${files.join('')}</ul></article><hr>`
}
