import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../sandbox/servers/process.ts'
import { buildConsole } from '../../scripts/build-console.ts'
import { apiWorld, createAccount, PASSWORD, type ApiWorld } from '../support/api.ts'
import { startBrowser } from './browser.ts'

let browser: Awaited<ReturnType<typeof startBrowser>>
let world: ApiWorld
let url: string

beforeAll(async () => {
  browser = await startBrowser()
  await buildConsole()
  const port = await freePort()
  url = `http://localhost:${port}`
  world = await apiWorld({ CONSOLE: 'on', PUBLIC_URL: url, FRONTEND_URL: url })
  await world.app.listen({ host: '127.0.0.1', port })
})
afterAll(async () => {
  await browser.stop()
  await world.close()
})

/** Collects what the policy blocks and what the page does not catch. */
function collectProblems(page: Page): string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  return problems
}

it('the console of the API works under its policy', async () => {
  const { email } = await createAccount(world.context, { withPassword: true })
  const page = await browser.newPage()
  const problems = collectProblems(page)
  await page.goto(url)
  await page.getByLabel('Email address').fill(email)
  await page.locator('input[type=password]').fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('navigation').waitFor()
  for (const path of ['/compose', '/calendar', '/analytics', '/']) {
    await page.goto(url + path)
    await page.getByRole('heading').first().waitFor()
    await page.waitForLoadState('networkidle')
  }
  expect(problems).toEqual([])
})

it('the policy blocks styles and requests that are not of the console', async () => {
  const page = await browser.newPage()
  const problems = collectProblems(page)
  await page.goto(url)
  await page.evaluate(`
    document.head.append(Object.assign(document.createElement('style'), { textContent: 'body { color: red }' }))
    fetch('http://elsewhere.test/').catch(() => null)
  `)
  await expect.poll(() => problems.join()).toMatch(/style-src[^]*connect-src/)
})
