import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

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
