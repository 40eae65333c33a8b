import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { PostonceError } from '@postonce/sdk'
import { startHttpServer } from './http-server.ts'
import { HELP, readOptions, UsageError, type Options } from './options.ts'
import { openSession, VERSION } from './server.ts'

/** Standard output belongs to the protocol, so everything else is on standard error. */
async function main(options: Options): Promise<void> {
  switch (options.mode) {
    case 'help':
      console.log(HELP)
      return
    case 'version':
      console.log(VERSION)
      return
    case 'stdio':
      return serveStdio(options)
    case 'http': {
      const server = await startHttpServer(options)
      console.error(`postonce-mcp listens on ${server.address}`)
      onStop(server.stop)
    }
  }
}

async function serveStdio(options: { url: string; apiKey: string }): Promise<void> {
  const server = await openSession(options)
  onStop(() => server.close())
  // A client ends its server by closing standard input. The process then ends after the calls in progress.
  await server.connect(new StdioServerTransport())
}

function onStop(stop: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
}

try {
  await main(readOptions(process.argv.slice(2), process.env))
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof PostonceError)) throw error
  console.error(`postonce-mcp: ${error.message}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
