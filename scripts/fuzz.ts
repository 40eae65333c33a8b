/**
 * `npm run fuzz [-- --examples <n>]`: sends generated requests, CSV files and forms to every route of the API, as a user and as an admin, and
 * judges the responses by the OpenAPI document. `npm run test:deep -- security` does the same with fewer requests.
 */
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { examples: { type: 'string', default: '50' } } })
if (!/^[1-9]\d*$/.test(values.examples)) {
  console.error('npm run fuzz [-- --examples <n>]   requests for each route and phase (default: 50)')
  process.exit(2)
}
process.env['FUZZ_EXAMPLES'] = values.examples
process.argv = [process.argv[0]!, process.argv[1]!, 'tests/integration/fuzz']
await import('./test.ts')
