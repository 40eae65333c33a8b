/**
 * `npm run check -- api-docs`: lints docs/openapi.json by the rules of Redocly. Runs offline.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  BaseResolver,
  createConfig,
  formatProblems,
  getTotals,
  lintDocument,
  makeDocumentFromString,
} from '@redocly/openapi-core'

const FILE = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'operation-tag-defined': 'error',
    'operation-singular-tag': 'error',
    'tag-description': 'error',
    'no-invalid-schema-examples': 'error',
    'no-invalid-media-type-examples': 'error',
    'no-required-schema-properties-undefined': 'error',
    // Callbacks only ever redirect, and the notification stream answers 101.
    'operation-2xx-response': 'off',
    // Callbacks and health routes refuse nothing; which errors the others document is derived from their routes.
    'operation-4xx-response': 'off',
    // `/notifications/{id}/read` is PATCH alone, `/notifications/devices/{token}` is DELETE alone.
    'no-ambiguous-paths': 'off',
  },
})
const problems = await lintDocument({
  document: makeDocumentFromString(await readFile(FILE, 'utf8'), FILE),
  config: config.styleguide,
  externalRefResolver: new BaseResolver(),
})
if (problems.length > 0) {
  formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '1' })
  process.exitCode = 1
}
