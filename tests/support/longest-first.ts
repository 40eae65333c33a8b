import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const timings = JSON.parse(readFileSync(new URL('../timings.json', import.meta.url), 'utf8')) as Record<string, number>

/** Projects whose files need a process each come first, because files of the others can share the processes that are left. */
const LAST_PROJECTS = ['integration', 'unit']

/**
 * Runs long files first, so that no long file starts when the other workers have ended. `npm test -- --save-timings` records the durations. A new
 * file counts as long. Files of a project stay together, because only they share a process.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification) => LAST_PROJECTS.indexOf(project.name)
    const seconds = ({ moduleId }: TestSpecification) => timings[relative(ROOT, moduleId)] ?? Infinity
    return files.toSorted((a, b) => rank(a) - rank(b) || (seconds(a) === seconds(b) ? 0 : seconds(b) - seconds(a)))
  }
}
