/**
 * `npm run pictures`: takes the pictures of the documents from the console of a running sandbox, as `npm run dev` starts it.
 *
 *   --dir <folder>      the folder of that sandbox (default: .sandbox)
 *   --pages <folder>    instead writes every page there, wide and as on a phone, light and dark, to check them by eye
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readOptions } from '../sandbox/options.ts'
import { readWorld } from '../sandbox/world.ts'
import { startBrowser } from '../tests/browser/browser.ts'
import { FORMS, PAGES, showForm } from '../tests/browser/pages.ts'
import { say } from './provision.mjs'
import { ROOT } from './repository-files.ts'

const PICTURES = { 'calendar.png': '/calendar', 'analytics.png': '/analytics' }
const SIZE = { width: 1_280, height: 800 }

const { values } = parseArgs({ options: { dir: { type: 'string' }, pages: { type: 'string' } } })
const calledFrom = process.env['INIT_CWD'] ?? ''
const { dir } = readOptions(values.dir === undefined ? [] : ['--dir', values.dir], calledFrom)
const world = readWorld(dir)
const user = world?.users[0]
if (!world || !user) {
  say(`No sandbox is running in ${dir}. Start it with "npm run dev", and wait until it is ready.`)
  process.exit(1)
}
const browser = await startBrowser()
const page = await browser.newPage()
await page.setViewportSize(SIZE)
await page.goto(world.frontend)
await page.getByLabel('Email address').fill(user.email)
await page.getByLabel(/^Password/).fill(user.password)
await page.getByRole('button', { name: 'Log in', exact: true }).click()
await page.getByRole('navigation').waitFor()
if (values.pages === undefined) {
  for (const [name, path] of Object.entries(PICTURES)) {
    await show(path)
    await page.screenshot({ path: join(ROOT, 'docs/images', name) })
  }
} else {
  for (const [path] of PAGES) {
    await show(path)
    for (const form of FORMS) {
      await showForm(page, form)
      const name = [path.replace(/\W+/g, '-'), form.width, form.colorScheme].join('-')
      await page.screenshot({ path: resolve(calledFrom, values.pages, `page${name}.png`), fullPage: true })
    }
  }
}
await browser.stop()

async function show(path: string): Promise<void> {
  await page.goto(world!.frontend + path)
  await page.waitForLoadState('networkidle')
  // Charts draw themselves.
  await page.waitForTimeout(1_500)
}
