/**
 * `npm run bundle`: builds dist/workflow-bundle.js, the one built artefact. A deployment builds it once, so that an error fails the
 * build, and every worker starts quickly with the same code.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflows } from '../worker/bundle.ts'

const TARGET = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url))

const startedAt = performance.now()
const { code } = await bundleWorkflows()
await mkdir(dirname(TARGET), { recursive: true })
await writeFile(TARGET, code)
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
console.log(`dist/workflow-bundle.js: ${Math.round(code.length / 1_024)} KiB in ${seconds} s`)
