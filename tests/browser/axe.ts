import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { FORMS, showForm } from './pages.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  impact: string
  id: string
  /** The first element that it is about. */
  element: string
}

/** Returns what axe finds on a page, but for minor findings. */
export async function findBarriers(page: Page): Promise<Finding[]> {
  // Not as a script element, which the policy of the page forbids.
  await page.evaluate(AXE)
  const found = await page.evaluate<Finding[]>(`axe.run().then(({ violations }) =>
    violations.map(({ impact, id, nodes }) => ({ impact, id, element: nodes[0].html.slice(0, 200) })))`)
  return found.filter(({ impact }) => impact !== 'minor')
}

/** Returns the barriers and the sideways scrolling of a page, wide and on a phone, light and dark, by form; empty without any. */
export async function findFlaws(page: Page): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const form of FORMS) {
    await showForm(page, form)
    const barriers = await findBarriers(page)
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    if (barriers.length > 0 || overflow > 0) found[`${form.width} ${form.colorScheme}`] = { barriers, overflow }
  }
  return found
}
