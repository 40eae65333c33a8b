import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A folder inside the repository, so that the generated code resolves its packages. */
const FOLDER = join(ROOT, '.cache', 'generated-client')

const COMPILER_OPTIONS = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  types: ['node'],
}

/**
 * Generates types from docs/openapi.json, compiles the program against them under `strict`, and loads it.
 * @param program TypeScript source that imports the generated types from `./schema.ts`
 * @throws Error with the compiler's output when the program does not compile
 */
export async function compileWithGeneratedTypes<T>(program: string): Promise<T> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  await writeFile(join(FOLDER, 'schema.ts'), await generateTypes())
  await writeFile(join(FOLDER, 'program.ts'), program)
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['schema.ts', 'program.ts'] }
  await writeFile(join(FOLDER, 'tsconfig.json'), JSON.stringify(config))
  await compile()
  return (await import(pathToFileURL(join(FOLDER, 'program.ts')).href)) as T
}

/** Generates the types with TypeScript 5: the compiler of this repository no longer has the API that the generator needs. */
async function generateTypes(): Promise<string> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  })
  try {
    const { default: openapiTypescript, astToString } = await import('openapi-typescript')
    const document = JSON.parse(await readFile(join(ROOT, 'docs', 'openapi.json'), 'utf8'))
    return astToString(await openapiTypescript(document))
  } finally {
    hooks.deregister()
  }
}

async function compile(): Promise<void> {
  const compiler = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-p', FOLDER]).catch((error: { stdout?: string }) => {
    throw new Error(`The program does not compile:\n${error.stdout}`, { cause: error })
  })
}
