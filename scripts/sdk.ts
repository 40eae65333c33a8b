/**
 * `npm run sdk`: writes the generated part of the SDK (`packages/sdk/src/generated`) from docs/openapi.json. With `--check` it writes
 * nothing and fails when a file is out of date.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import prettier from 'prettier'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const FOLDER = join(ROOT, 'packages', 'sdk', 'src', 'generated')
const HEADER = '// Generated from docs/openapi.json. Run "npm run sdk" after a change of the document.\n\n'

interface Operation {
  parameters?: { in: string; name: string }[]
}

interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
}

/** Returns the files of the generated part, by name. */
async function generateSdk(): Promise<Record<string, string>> {
  const document = JSON.parse(await readFile(join(ROOT, 'docs', 'openapi.json'), 'utf8')) as OpenApiDocument
  return {
    'schema.ts': await format(HEADER + (await generateTypes(document))),
    'idempotency.ts': await format(HEADER + generateIdempotency(document)),
  }
}

/** Generates the types with TypeScript 5: the compiler of this repository no longer has the API that the generator needs. */
async function generateTypes(document: object): Promise<string> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  })
  try {
    const { default: openapiTypescript, astToString } = await import('openapi-typescript')
    return astToString(await openapiTypescript(document as never))
  } finally {
    hooks.deregister()
  }
}

/** Lists the operations that accept an idempotency key, because the SDK sends one with each of them. */
function generateIdempotency({ paths }: OpenApiDocument): string {
  const accepting = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name.toLowerCase() === 'idempotency-key'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  return `/** Operations that accept an idempotency key. */
export const ACCEPT_IDEMPOTENCY_KEY: ReadonlySet<string> = new Set(${JSON.stringify(accepting)})\n`
}

async function format(source: string): Promise<string> {
  const filepath = join(FOLDER, 'schema.ts')
  return prettier.format(source, { ...(await prettier.resolveConfig(filepath)), filepath })
}

async function main(): Promise<void> {
  const files = Object.entries(await generateSdk())
  if (!process.argv.includes('--check')) {
    await mkdir(FOLDER, { recursive: true })
    for (const [name, text] of files) await writeFile(join(FOLDER, name), text)
    console.log('packages/sdk/src/generated is up to date')
    return
  }
  const written = await Promise.all(files.map(([name]) => readFile(join(FOLDER, name), 'utf8').catch(() => '')))
  if (files.every(([, text], index) => text === written[index])) return
  console.error('The SDK differs from docs/openapi.json. Run "npm run sdk" and commit the result.')
  process.exitCode = 1
}

if (import.meta.main) await main()
