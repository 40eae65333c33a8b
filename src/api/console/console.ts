import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Config } from '../../config/schema.ts'
import { escapeHtml } from '../../domain/shared/html.ts'
import { buildPolicy, type PageAddresses } from './policy.ts'

export interface ConsoleOptions extends PageAddresses {
  /** The folder that `vite build` has filled. */
  folder: string
  /** True when the API itself serves the page. */
  isOwnOrigin: boolean
}

const BUILT = fileURLToPath(new URL('../../../packages/console/dist/', import.meta.url))
const PAGE = 'index.html'
/** Vite's names, which have a hash of the content. A separator or a leading dot would lead to other files. */
const ASSET_NAME = /^[\w-][\w.-]*$/
/** A missing file must not get a page. Neither must a scraper, also where another port serves the metrics. */
const RESERVED = ['assets', 'metrics']

/** Returns how the API of this configuration serves the console. */
export const readConsoleOptions = (config: Config): ConsoleOptions => ({
  folder: BUILT,
  isOwnOrigin: true,
  apiUrl: config.PUBLIC_URL,
  storageUrls: [config.S3_ENDPOINT, config.S3_PUBLIC_URL],
})

/**
 * Serves the built console: its files, and its page at every path whose first segment no other route begins with. Register it after
 * the other routes.
 * @throws Error when the folder has no page
 */
export async function consolePages(app: FastifyInstance, options: ConsoleOptions): Promise<void> {
  const { folder, apiUrl, isOwnOrigin } = options
  if (!existsSync(join(folder, PAGE))) {
    throw new Error(
      `CONSOLE is on, but ${join(folder, PAGE)} is missing. Build the console with "npm run build --workspace packages/console", or set CONSOLE=off.`,
    )
  }
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, acceptRanges: false })

  const file = { config: { isFile: true }, schema: { hide: true } }
  app.get<{ Params: { '*': string } }>('/assets/*', file, (request, reply) => {
    const name = request.params['*']
    return ASSET_NAME.test(name)
      ? reply.sendFile(`assets/${name}`, { maxAge: '1y', immutable: true })
      : reply.callNotFound()
  })
  for (const name of listFiles(folder)) app.get(`/${name}`, file, (_request, reply) => reply.sendFile(name))

  let owned: Set<string>
  app.addHook('onReady', async () => {
    owned = new Set([...RESERVED, ...app.routeEntries.map(({ url }) => toFirstSegment(url))])
  })
  app.get<{ Params: { '*': string } }>('/*', { schema: { hide: true } }, async (request, reply) =>
    owned.has(toFirstSegment(request.params['*'])) ? reply.callNotFound() : sendPage(reply),
  )

  async function sendPage(reply: FastifyReply): Promise<FastifyReply> {
    const nonce = randomBytes(16).toString('base64')
    // Read each time, so that the page fits the files after another build.
    const page = await readFile(join(folder, PAGE), 'utf8')
    return reply
      .header('cache-control', 'no-store')
      .header('content-security-policy', buildPolicy(options, nonce))
      .type('text/html; charset=utf-8')
      .send(fillIn(page, { api: isOwnOrigin ? '' : apiUrl, 'csp-nonce': nonce }))
  }
}

/** Lists the files beside the page that have a name of their own, such as its icon. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && ASSET_NAME.test(entry.name) && entry.name !== PAGE)
    .map(({ name }) => name)
}

function toFirstSegment(path: string): string {
  return path.split('/').find((segment) => segment !== '') ?? ''
}

/** Fills in the page's empty meta elements of these names. */
function fillIn(page: string, values: Record<string, string>): string {
  return page.replace(
    /(<meta name="([\w-]+)" content=")(?=")/g,
    (start, _, name: string) => start + escapeHtml(values[name] ?? ''),
  )
}
