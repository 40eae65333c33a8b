import { execFile } from 'node:child_process'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
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
 * Takes the types that the SDK generates from docs/openapi.json, compiles the program against them under `strict`, and loads it.
 * @param program TypeScript source that imports the generated types from `./schema.ts`
 * @throws Error with the compiler's output when the program does not compile
 */
export async function compileWithGeneratedTypes<T>(program: string): Promise<T> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  await cp(join(ROOT, 'packages', 'sdk', 'src', 'generated', 'schema.ts'), join(FOLDER, 'schema.ts'))
  await writeFile(join(FOLDER, 'program.ts'), program)
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['schema.ts', 'program.ts'] }
  await writeFile(join(FOLDER, 'tsconfig.json'), JSON.stringify(config))
  await compile()
  return (await import(pathToFileURL(join(FOLDER, 'program.ts')).href)) as T
}

async function compile(): Promise<void> {
  const compiler = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-p', FOLDER]).catch((error: { stdout?: string }) => {
    throw new Error(`The program does not compile:\n${error.stdout}`, { cause: error })
  })
}
