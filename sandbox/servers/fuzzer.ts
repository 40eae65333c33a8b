import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../scripts/provision.mjs'
import { assertVersion, findOrFetch, type Source } from './find-or-fetch.ts'
import { assertTool } from './sources.ts'

const VERSION = '4.32.5'

/** The exact version of schemathesis and its dependencies. */
const REQUIREMENTS = fileURLToPath(new URL('fuzzer-requirements.txt', import.meta.url))

/** Resolves its own folder, because the cache moves tested programs. */
const LAUNCHER = `#!/bin/sh
PYTHONPATH="$(dirname "$0")/packages" exec python3 -c 'from schemathesis.cli import schemathesis; schemathesis()' "$@"
`

/** Sends generated requests to an API and judges the responses by the API's OpenAPI document. */
export function findFuzzer(): Promise<string> {
  return findOrFetch({
    title: 'The API fuzzer schemathesis',
    program: 'schemathesis',
    version: VERSION,
    variable: 'POSTONCE_SCHEMATHESIS',
    probe: (path) => assertVersion(path, /(\d+)\.(\d+)\.\d+/, [4, 32]),
    sources: [pythonPackages],
    advice: 'install Python 3.11 or newer with pip, or schemathesis itself (uv tool install schemathesis).',
  })
}

const pythonPackages: Source = {
  title: 'the Python packages',
  async fetch(folder) {
    assertTool('python3', 'Python 3 with pip')
    const options = ['--disable-pip-version-check', '--no-input', '--no-deps', '--only-binary', ':all:', '--quiet']
    const target = ['--target', join(folder, 'packages'), '--requirement', REQUIREMENTS]
    await run('python3', ['-m', 'pip', 'install', ...options, ...target])
    writeFileSync(join(folder, 'schemathesis'), LAUNCHER)
    chmodSync(join(folder, 'schemathesis'), 0o755)
  },
}
