import { parseArgs } from 'node:util'
import { isLoopback } from './http-checks.ts'

export const HELP = `Usage: postonce-mcp [--http] [options]

An MCP server for postonce. Without --http it speaks over standard input and output, for a client that starts it.

Options
  --url <url>              Address of the service; default POSTONCE_URL
  --http                   Serve Streamable HTTP at /mcp. Clients send their API key: Authorization: Bearer po_live_…
  --host <host>            Where to listen with --http; default 127.0.0.1
  --port <port>            Port with --http; default 4700
  --allow-host <name>      A host name that clients use, besides localhost; repeatable
  --allow-origin <origin>  An origin of web pages that may connect; repeatable
  --version, --help

Environment
  POSTONCE_URL             Address of the service
  POSTONCE_API_KEY         API key, without --http`

const DEFAULT_PORT = '4700'
const MAX_PORT = 65_535

/** A problem with the arguments or the environment, which the user can correct. */
export class UsageError extends Error {}

type Env = Record<string, string | undefined>

export type Options =
  | { mode: 'help' | 'version' }
  | { mode: 'stdio'; url: string; apiKey: string }
  | { mode: 'http'; url: string; host: string; port: number; allowed: { hosts: string[]; origins: string[] } }

/**
 * Reads arguments and environment.
 * @throws UsageError
 */
export function readOptions(args: string[], env: Env): Options {
  const values = parse(args)
  if (values.help) return { mode: 'help' }
  if (values.version) return { mode: 'version' }
  const url = values.url ?? env['POSTONCE_URL'] ?? ''
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new UsageError('Pass the address of the service: --url https://postonce.example.com, or set POSTONCE_URL.')
  }
  if (values.http) return { mode: 'http', url, ...readHttpOptions(values) }
  const apiKey = env['POSTONCE_API_KEY'] ?? ''
  if (apiKey === '') throw new UsageError('Set POSTONCE_API_KEY to an API key of postonce.')
  return { mode: 'stdio', url, apiKey }
}

type Values = ReturnType<typeof parse>

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        url: { type: 'string' },
        http: { type: 'boolean' },
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string', default: DEFAULT_PORT },
        'allow-host': { type: 'string', multiple: true, default: [] },
        'allow-origin': { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean' },
        version: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function readHttpOptions({ host, port, 'allow-host': hosts, 'allow-origin': origins }: Values) {
  if (!/^\d+$/.test(port) || Number(port) > MAX_PORT) throw new UsageError('--port is a number up to 65535.')
  if (!isLoopback(host) && hosts.length === 0) {
    throw new UsageError('Other machines can reach this host. Pass --allow-host with the name that clients use.')
  }
  return { host, port: Number(port), allowed: { hosts, origins } }
}
