import type { Page } from 'playwright-core'
import { inject } from 'vitest'
import { startFrontend } from '../../sandbox/frontend.ts'
import { freePort } from '../../sandbox/servers/process.ts'
import { buildConsole } from '../../scripts/build-console.ts'
import type { Config } from '../../src/config/schema.ts'
import { NO_LIMITS } from '../support/delivery-world.ts'
import { startServiceInProcess } from '../support/service-in-process.ts'
import { testContext } from '../support/servers.ts'
import { startBrowser } from './browser.ts'

/** The service in this process, with frontend pages and a browser. `settings` may depend on the service's address. */
export async function startBrowserWorld(settings: (publicUrl: string) => Partial<Config>) {
  // First, because not every machine has a browser.
  const browser = await startBrowser()
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const frontend = await startFrontend({
    folder: await buildConsole(),
    apiUrl: publicUrl,
    storageUrl: inject('servers').s3.endpoint,
    port: await freePort(),
  })
  const context = await testContext({
    ...NO_LIMITS,
    PUBLIC_URL: publicUrl,
    FRONTEND_URL: frontend.url,
    ...settings(publicUrl),
  })
  const service = await startServiceInProcess(context)
  await service.app.listen({ host: '127.0.0.1', port })

  return {
    publicUrl,
    frontend,
    service,

    /** Opens a page in a separate browser. */
    async visit(path = '/'): Promise<Page> {
      const page = await browser.newPage()
      await page.goto(`${frontend.url}${path}`)
      return page
    },

    /** Opens a page in a separate browser for a new user who is signed in. */
    async newUser(path = '/') {
      const { userId, secrets } = await service.logIn()
      const page = await this.visit(path)
      await page.fill('#login [name=email]', secrets.email)
      await page.fill('#login [name=password]', secrets.password)
      await page.click('#login button')
      await page.waitForSelector('#who:has-text("Signed in as")')
      return { page, userId }
    },

    async stop(): Promise<void> {
      await browser.stop()
      await service.stop()
      await frontend.stop()
    },
  }
}

export type BrowserWorld = Awaited<ReturnType<typeof startBrowserWorld>>
