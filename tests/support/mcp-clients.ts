import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/** Untyped, because the tests check its shape. */
type Json = ReturnType<typeof JSON.parse>

/** The result of a tool as its caller reads it. */
export interface ToolOutcome {
  isError: boolean
  data: Json
}

export interface Agent {
  client: Client
  /** Calls a tool; the outcome may be an error. */
  call(name: string, args?: object): Promise<ToolOutcome>
  /** Calls a tool that has to succeed, and returns its data. */
  use(name: string, args?: object): Promise<Json>
  tools(): Promise<string[]>
  /** Reads a resource as JSON. */
  read(uri: string): Promise<Json>
  close(): Promise<void>
}

/** Starts the MCP server as a client does, and connects to it. */
export async function connectByStdio(
  command: string,
  args: string[],
  env: Record<string, string>,
  cwd?: string,
): Promise<Agent> {
  const path = process.env['PATH'] ?? ''
  return connect(new StdioClientTransport({ command, args, env: { PATH: path, ...env }, ...(cwd ? { cwd } : {}) }))
}

export async function connectByHttp(address: string, apiKey: string): Promise<Agent> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const transport = new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } })
  return connect(transport, () => transport.terminateSession())
}

async function connect(transport: Transport, end: () => Promise<void> = async () => {}): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)

  async function call(name: string, args: object = {}): Promise<ToolOutcome> {
    const { isError, content } = await client.callTool({ name, arguments: { ...args } })
    const [{ text } = { text: '' }] = content as { text: string }[]
    return { isError: isError === true, data: text.startsWith('{') ? JSON.parse(text) : { text } }
  }

  return {
    client,
    call,
    async use(name, args) {
      const { isError, data } = await call(name, args)
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(data)}`)
      return data
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async read(uri) {
      const [resource] = (await client.readResource({ uri })).contents
      return JSON.parse((resource as { text: string }).text)
    },
    async close() {
      await end()
      await client.close()
    },
  }
}

export interface HttpProcess {
  address: string
  child: ChildProcess
  stop(): Promise<number | null>
}

/** Starts the MCP server with `--http` on a free port. */
export async function startMcpHttp(program: string, url: string, args: string[] = []): Promise<HttpProcess> {
  const child = spawn(process.execPath, [program, '--http', '--port', '0', ...args], {
    env: { PATH: process.env['PATH'], POSTONCE_URL: url },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const [line] = (await once(createInterface(child.stderr), 'line')) as [string]
  const address = /http:\S+/.exec(line)?.[0]
  if (address === undefined) throw new Error(line)
  return {
    address,
    child,
    async stop() {
      child.kill('SIGTERM')
      const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
      return code as number | null
    },
  }
}
