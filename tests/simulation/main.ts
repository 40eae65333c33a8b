import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { formatViolations } from '../faults/judge/judge.ts'
import { planHistory, runHistory } from './history.ts'
import { loadService } from './service.ts'
import { shrinkHistory } from './shrink.ts'

/** Runs histories from a seed on: `npm run simulate -- [first seed] [number of histories]`. */
const [first = 1, count = 1_000] = process.argv.slice(2).map(Number)
const source = await loadService(PROJECT_ROOT)
const before = process.cpuUsage()
let failed = 0
for (let seed = first; seed < first + count; seed++) {
  const planned = planHistory(seed)
  const outcome = await runHistory(source, planned)
  if (outcome.violations.length === 0) continue
  failed += 1
  console.log(`Seed ${seed}:\n${formatViolations(outcome.violations).join('\n')}`)
  const { history, outcome: shrunk } = await shrinkHistory(planned, outcome, (smaller) => runHistory(source, smaller))
  console.log(
    `Shrunk: ${JSON.stringify(history)}\n${formatViolations(shrunk.violations).join('\n')}\n${shrunk.trace.join('\n')}`,
  )
}
const { user, system } = process.cpuUsage(before)
const seconds = (user + system) / 1e6
console.log(
  `${count} histories, ${failed} with violations, ${seconds.toFixed(1)} CPU s, ${Math.round((60 * count) / seconds)} a minute`,
)
process.exit(failed === 0 ? 0 : 1)
