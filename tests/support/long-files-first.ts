import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Small files with long waits. By size they would start last, and the other workers would wait for them. */
const LONG_FILES = [
  'tests/integration/fuzz/fuzz.test.ts',
  'tests/integration/deliveries/temporal-loss.test.ts',
  'tests/integration/deliveries/long-history.test.ts',
  'tests/integration/deliveries/instagram.test.ts',
  'tests/integration/deliveries/threads.test.ts',
  'tests/faults/load.test.ts',
  'tests/faults/planted.test.ts',
  'tests/faults/matrix.test.ts',
]

/** The order of vitest, which without earlier results is by size, except that some long files come first. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG_FILES.some((file) => moduleId.endsWith(`/${file}`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
