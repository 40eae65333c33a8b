import { chromium, type Page } from 'playwright-core'
import { findChromium } from '../../sandbox/servers/chromium.ts'

const TIMEOUT_MS = 20_000

/** A headless Chromium in which each page belongs to somebody else, with cookies of their own. */
export async function startBrowser() {
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    // Containers allow no sandbox of its own, and nothing but our own pages is opened.
    chromiumSandbox: false,
    args: ['--disable-gpu'],
  })
  return {
    async newPage(): Promise<Page> {
      const context = await browser.newContext()
      context.setDefaultTimeout(TIMEOUT_MS)
      return context.newPage()
    },
    stop: () => browser.close(),
  }
}
