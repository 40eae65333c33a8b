import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseList } from '../src/domain/shared/lists.ts'

export const PROJECT_ROOT = resolve(import.meta.dirname, '..')

export const USAGE = `npm run dev [-- --dir <folder>] [--fresh] [--port <n>] [--frontend <url>] [--no-first-post]

  --dir <folder>    the folder for all data (default: .sandbox)
  --fresh           deletes the data of earlier starts first
  --port <n>        port of the API (default: 4000, or the port of the last start)
  --frontend <url>  your own frontend: redirects and mails link to it, and it may call the API
  --no-first-post   publishes no first post and creates no sample data

  The environment variable FRONTEND_URL is the default of --frontend. CORS_ORIGINS lists more origins
  that may call the API, separated by commas. Neither is stored for the next start.`

export interface Options {
  dir: string
  fresh: boolean
  /** Undefined: the port of the last start. */
  port: number | undefined
  firstPost: boolean
  /** The user's own frontend, the target of redirects and mails; `null`: the sandbox's page. */
  frontend: string | null
  /** Additional origins that may call the API. */
  corsOrigins: string[]
}

/** @throws an error whose message is for the person who typed the options */
export function readOptions(args: string[], calledFrom: string, env: NodeJS.ProcessEnv = {}): Options {
  const { values } = parseArgs({
    args,
    options: {
      dir: { type: 'string' },
      fresh: { type: 'boolean', default: false },
      port: { type: 'string' },
      frontend: { type: 'string' },
      'no-first-post': { type: 'boolean', default: false },
    },
  })
  const [frontend, source] =
    values.frontend === undefined ? [env['FRONTEND_URL'] ?? '', 'FRONTEND_URL'] : [values.frontend, '--frontend']
  return {
    dir: values.dir === undefined ? join(PROJECT_ROOT, '.sandbox') : resolve(calledFrom, values.dir),
    fresh: values.fresh,
    port: values.port === undefined ? undefined : readPort(values.port),
    firstPost: !values['no-first-post'],
    frontend: frontend === '' && source === 'FRONTEND_URL' ? null : readWebAddress(frontend, source),
    corsOrigins: parseList(env['CORS_ORIGINS'] ?? '').map((origin) => readOrigin(origin)),
  }
}

/** Removes trailing slashes, because paths are appended. */
function readWebAddress(text: string, source: string): string {
  if (!isWebAddress(text) || /[?#]/.test(text)) {
    throw new Error(`${source} ${text} is not the URL of a web page. Use a URL such as http://localhost:5173`)
  }
  return text.replace(/\/+$/, '')
}

function readOrigin(text: string): string {
  if (!isWebAddress(text)) {
    throw new Error(`CORS_ORIGINS ${text} is not an origin. Use one such as http://localhost:5173`)
  }
  return new URL(text).origin
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text)
}

function readPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`--port ${text} is not a port. Use a number from 1 to 65535`)
  return port
}
