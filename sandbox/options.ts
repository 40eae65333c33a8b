import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseList } from '../src/domain/shared/lists.ts'

export const PROJECT_ROOT = resolve(import.meta.dirname, '..')

export const USAGE = `npm run dev [-- --dir <folder>] [--fresh] [--port <n>] [--frontend <url>] [--no-first-post]

  --dir <folder>    where everything is kept (default: .sandbox)
  --fresh           forgets what an earlier start left there
  --port <n>        port of the API (default: 4000, or as last time)
  --frontend <url>  your own frontend: redirects and mails lead there, and it may call the API
  --no-first-post   publishes nothing on its own, and makes up no past

  FRONTEND_URL in the environment is the default of --frontend. CORS_ORIGINS lists further origins
  that may call the API, separated by commas. Neither is stored for the next start.`

export interface Options {
  dir: string
  fresh: boolean
  /** Undefined: as last time. */
  port: number | undefined
  firstPost: boolean
  /** The user's own frontend, where redirects and mails lead; null: the sandbox's page. */
  frontend: string | null
  /** Further origins that may call the API. */
  corsOrigins: string[]
}

/** @throws with a sentence for the person who typed it */
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

/** Without a slash at its end, since paths are appended to it. */
function readWebAddress(text: string, source: string): string {
  if (!isWebAddress(text) || /[?#]/.test(text)) {
    throw new Error(`${source} ${text} is not a URL of a web page. Use one like http://localhost:5173`)
  }
  return text.replace(/\/+$/, '')
}

function readOrigin(text: string): string {
  if (!isWebAddress(text)) {
    throw new Error(`CORS_ORIGINS ${text} is not an origin. Use some like http://localhost:5173`)
  }
  return new URL(text).origin
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text)
}

function readPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`--port ${text} is not a port`)
  return port
}
