import Fastify from 'fastify'
import { consolePages } from '../src/api/console/console.ts'
import { routing } from '../src/api/plugins/routing.ts'

export interface FrontendOptions {
  /** The built console. */
  folder: string
  apiUrl: string
  storageUrl: string
  port: number
}

/** Serves the console at an origin of its own, as a static host does. */
export async function startFrontend({ folder, apiUrl, storageUrl, port }: FrontendOptions) {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(routing)
  await app.register(consolePages, { folder, isOwnOrigin: false, apiUrl, storageUrls: [storageUrl] })
  await app.listen({ host: '127.0.0.1', port })
  return { url: `http://localhost:${port}`, stop: () => app.close() }
}
