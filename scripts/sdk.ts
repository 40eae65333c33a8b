/**
 * `npm run sdk`: writes the generated part of the SDK (`packages/sdk/src/generated`) from docs/openapi.json. With `--check` it writes
 * nothing and fails when a file is out of date.
 */
import { readFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import prettier from 'prettier'
import { runSectionScript, updateFile } from './document-section.ts'

const DOCUMENT = new URL('../docs/openapi.json', import.meta.url)
const FOLDER = 'packages/sdk/src/generated/'
const HEADER = '// Generated from docs/openapi.json. Run "npm run sdk" after a change of the document.\n\n'

interface Operation {
  parameters?: { in: string; name: string }[]
}

interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
}

/** Returns the files of the generated part, by name. */
async function generateSdk(): Promise<Record<string, string>> {
  const document = JSON.parse(await readFile(DOCUMENT, 'utf8')) as OpenApiDocument
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
  const filepath = fileURLToPath(new URL(`../${FOLDER}schema.ts`, import.meta.url))
  return prettier.format(source, { ...(await prettier.resolveConfig(filepath)), filepath })
}

await runSectionScript(import.meta.url, async (check) => {
  for (const [name, text] of Object.entries(await generateSdk())) await updateFile(`${FOLDER}${name}`, text, { check })
})
