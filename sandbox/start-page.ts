import type { PostServer } from './platforms/all.ts'
import type { SandboxResponse, LedgerEntry } from './platforms/proxied-platform.ts'
import { closeServer, listenOnLoopback } from './platforms/listen.ts'
import { errorPage, escapeHtml, page } from './platforms/shared/html.ts'
import { createSimulatorServer, type Route } from './platforms/shared/server.ts'
import type { RunningService } from './services/all.ts'

const SHOWN_POSTS = 50
const RESPONSE_WITHIN_MS = 5_000
const MAX_BODY_BYTES = 10_000

/**
 * Serves the start page: the public posts and accounts of every platform, and links to the other servers. It also
 * creates Bluesky accounts, since that server has no page for it.
 */
export async function startStartPage(
  servers: PostServer[],
  services: Pick<RunningService, 'title' | 'url'>[],
  port: number,
) {
  const routes: Route[] = [
    [
      'GET',
      /^\/$/,
      async () =>
        page(200, 'postonce sandbox', `${linksTo(services)}${(await Promise.all(servers.map(sectionOf))).join('')}`),
    ],
    ['POST', /^\/bluesky\/accounts$/, ({ params }) => createBlueskyAccount(params.text('name')?.trim() ?? '')],
  ]
  const server = createSimulatorServer({
    base: () => 'http://start-page',
    routes,
    enter: () => ({}),
    notFound: () => errorPage(404, 'This page does not exist'),
    failed: () => errorPage(500, 'The start page failed. See the output of npm run dev.'),
    maxBodyBytes: MAX_BODY_BYTES,
  })

  async function createBlueskyAccount(name: string): Promise<SandboxResponse> {
    const bluesky = servers.find(({ platform }) => platform === 'bluesky')
    if (bluesky === undefined) return errorPage(404, 'This sandbox has no Bluesky server')
    const handle = `${name.replace(/\.test$/, '')}.test`
    const answer = await fetch(`${bluesky.control}/accounts`, { method: 'POST', body: JSON.stringify({ handle }) })
    const body = (await answer.json()) as { error?: string; identifier: string; appPassword: string }
    return answer.ok ? accountPage(body) : errorPage(answer.status, body.error ?? '')
  }

  const url = await listenOnLoopback(server, port)
  return { url: `${url}/`, stop: () => closeServer(server) }
}

function accountPage({ identifier, appPassword }: { identifier: string; appPassword: string }): SandboxResponse {
  return page(
    200,
    'A Bluesky account',
    `<p>Connect Bluesky with these credentials:</p><dl><dt>Handle</dt><dd><code>${escapeHtml(identifier)}</code></dd><dt>App password</dt><dd><code>${escapeHtml(appPassword)}</code></dd></dl><p>Enter the same handle to see them again. <a href="/">Back</a></p>`,
  )
}

const NEW_BLUESKY_ACCOUNT = `<form method="post" action="/bluesky/accounts"><p><label>Handle of a new account <input name="name" required autocomplete="off" autocapitalize="none" size="14">.test</label> <button>Create</button></p></form>`

function linksTo(services: Pick<RunningService, 'title' | 'url'>[]): string {
  const links = services.map(({ title, url }) => `<a href="${url}">${escapeHtml(title)}</a>`)
  return links.length === 0 ? '' : `<p>Other services: ${links.join(', ')}</p>`
}

async function sectionOf({ platform, title, url, control }: PostServer): Promise<string> {
  const links = `<a href="${url}/">server</a>, <a href="${control}/ledger">ledger</a>, <a href="${control}/requests">requests</a>, <a href="${control}/faults">faults</a>`
  const form = platform === 'bluesky' ? NEW_BLUESKY_ACCOUNT : ''
  const heading = `<h2>${escapeHtml(title)}</h2><p>${links}</p>${form}`
  try {
    const answer = await fetch(`${control}/ledger`, { signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) })
    const posts = (await answer.json()) as LedgerEntry[]
    const latest = posts.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, SHOWN_POSTS)
    const accounts = [...new Set(posts.map(({ account }) => account))]
    return `${heading}<p>Accounts with posts: ${accounts.map(escapeHtml).join(', ') || 'none'}</p>${latest.map(articleOf).join('')}`
  } catch {
    return `${heading}<p>This server does not respond. See the logs folder of the sandbox.</p>`
  }
}

function articleOf({ account, text, media, createdAt }: LedgerEntry): string {
  const files = media.map(({ type, altText }) => `<li>${escapeHtml(type)} ${escapeHtml(altText)}</li>`)
  return `<article><p><b>${escapeHtml(account)}</b> ${escapeHtml(createdAt)}</p><p>${escapeHtml(text)}</p><ul>${files.join('')}</ul></article><hr>`
}
