import { chromium, type BrowserContextOptions, type Page } from 'playwright-core'
import { findChromium } from '../../sandbox/servers/chromium.ts'

const TIMEOUT_MS = 20_000

/** A headless Chromium in which each page has its own cookies, as if it belonged to another user. */
export async function startBrowser() {
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    // Chromium's own sandbox does not work in containers; only our own pages are opened.
    chromiumSandbox: false,
    args: ['--disable-gpu'],
  })
  return {
    async newPage(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext(options)
      context.setDefaultTimeout(TIMEOUT_MS)
      return context.newPage()
    },
    stop: () => browser.close(),
  }
}
