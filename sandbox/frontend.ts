import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { closeServer, listenOnLoopback } from './platforms/listen.ts'

const FOLDER = new URL('frontend/', import.meta.url)

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' }
const FILES = Object.fromEntries(
  readdirSync(FOLDER).flatMap((file) => {
    const type = TYPES[extname(file)]
    return type ? [[`/${file}`, { file, type }]] : []
  }),
)
/** The page is served at every other path, because the service redirects browsers to several paths. */
const PAGE = { file: 'index.html', type: 'text/html' }

/** What the page mentions of the sandbox around it. */
interface Surroundings {
  /** The page that creates Bluesky accounts. */
  startPage?: string
  /** A Mastodon server that users can name. */
  secondMastodon?: string
}

/** Serves the sample frontend: accounts, posts, live notifications and analytics. */
export async function startFrontend(api: string, port = 0, { startPage = '', secondMastodon = '' }: Surroundings = {}) {
  const values: Record<string, string> = { api, startPage, secondMastodon }
  const server = createServer(({ url = '/' }, response) => {
    const { file, type } = FILES[url.split('?', 1)[0]!] ?? PAGE
    void readFile(new URL(file, FOLDER), 'utf8').then((text) => {
      response
        .writeHead(200, { 'content-type': `${type}; charset=utf-8` })
        .end(text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? ''))
    })
  })
  const { port: settled } = new URL(await listenOnLoopback(server, port))
  return { url: `http://localhost:${settled}`, stop: () => closeServer(server) }
}
