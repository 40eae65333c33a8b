/**
 * `npm run check -- api-docs`: lints docs/openapi.json by the rules in redocly.yaml. Runs offline.
 */
import { fileURLToPath } from 'node:url'
import { formatProblems, getTotals, lint, loadConfig } from '@redocly/openapi-core'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

const config = await loadConfig({ configPath: `${ROOT}redocly.yaml` })
const problems = await lint({ ref: `${ROOT}docs/openapi.json`, config })
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '1' })
  process.exitCode = 1
}
