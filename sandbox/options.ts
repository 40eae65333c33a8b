import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const PROJECT_ROOT = resolve(import.meta.dirname, '..')

export const USAGE = `npm run dev [-- --dir <folder>] [--fresh] [--port <n>] [--no-first-post]

  --dir <folder>    where everything is kept (default: .sandbox)
  --fresh           forgets what an earlier start left there
  --port <n>        port of the API (default: 4000, or as last time)
  --no-first-post   publishes nothing on its own, and makes up no past`

export interface Options {
  dir: string
  fresh: boolean
  /** Undefined: as last time. */
  port: number | undefined
  firstPost: boolean
}

/** @throws with a sentence for the person who typed it */
export function readOptions(args: string[], calledFrom: string): Options {
  const { values } = parseArgs({
    args,
    options: {
      dir: { type: 'string' },
      fresh: { type: 'boolean', default: false },
      port: { type: 'string' },
      'no-first-post': { type: 'boolean', default: false },
    },
  })
  return {
    dir: values.dir === undefined ? join(PROJECT_ROOT, '.sandbox') : resolve(calledFrom, values.dir),
    fresh: values.fresh,
    port: values.port === undefined ? undefined : readPort(values.port),
    firstPost: !values['no-first-post'],
  }
}

function readPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`--port ${text} is not a port`)
  return port
}
