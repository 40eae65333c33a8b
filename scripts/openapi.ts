/**
 * `npm run openapi`: writes docs/openapi.json from the schemas of the routes. With `--check` it writes nothing and fails when the
 * file is out of date. It needs no running server, because only requests use the stores and clients.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import prettier from 'prettier'
import { buildApp } from '../src/api/app.ts'
import { systemClock } from '../src/clock.ts'
import { readConfig } from '../src/config/schema.ts'
import type { Context } from '../src/context.ts'
import { createLogger } from '../src/logger.ts'

const FILE = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
/** Long enough for the schema's check; nothing is signed with it. */
const PLACEHOLDER = 'placeholder-for-a-secret-that-nothing-uses-here'

const written = await readFile(FILE, 'utf8').catch(() => '')
const document = await generate()

if (!process.argv.includes('--check')) {
  await writeFile(FILE, document)
  console.log('docs/openapi.json is up to date')
} else if (document !== written) {
  console.error('docs/openapi.json is out of date. Run "npm run openapi" and commit the result.')
  process.exitCode = 1
}

async function generate(): Promise<string> {
  const config = readConfig({
    NODE_ENV: 'test',
    S3_SECRET_ACCESS_KEY: PLACEHOLDER,
    JWT_SECRET: PLACEHOLDER,
    REFRESH_TOKEN_SECRET: PLACEHOLDER,
    OAUTH_STATE_SECRET: PLACEHOLDER,
    TOKEN_ENCRYPTION_KEYS: PLACEHOLDER,
  })
  const app = await buildApp({ config, logger: createLogger('silent'), clock: systemClock } as Context)
  try {
    await app.ready()
    const options = await prettier.resolveConfig(FILE)
    return await prettier.format(JSON.stringify(app.swagger()), { ...options, filepath: FILE })
  } finally {
    await app.close()
  }
}
