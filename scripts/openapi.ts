/**
 * `npm run openapi`: writes docs/openapi.json from the schemas of the routes. With `--check` it writes nothing and fails when the
 * file is out of date. It needs no running server, because only requests use the stores and clients.
 */
import { fileURLToPath } from 'node:url'
import prettier from 'prettier'
import { buildApp } from '../src/api/app.ts'
import { systemClock } from '../src/clock.ts'
import { readConfig } from '../src/config/schema.ts'
import type { Context } from '../src/context.ts'
import { createLogger } from '../src/logger.ts'
import { runSectionScript, updateFile } from './document-section.ts'

const FILE = 'docs/openapi.json'
/** Long enough for the schema's check; nothing is signed with it. */
const PLACEHOLDER = 'placeholder-for-a-secret-that-nothing-uses-here'

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
    const filepath = fileURLToPath(new URL(`../${FILE}`, import.meta.url))
    return await prettier.format(JSON.stringify(app.swagger()), {
      ...(await prettier.resolveConfig(filepath)),
      filepath,
    })
  } finally {
    await app.close()
  }
}

await runSectionScript(import.meta.url, async (check) => updateFile(FILE, await generate(), { check }))
