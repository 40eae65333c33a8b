import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SEED } from './examples.ts'

/**
 * The checks for every response. Checks that expect 2xx for everything that fits the schema and 4xx for everything else are
 * left out: domain rules reject more, and unknown fields are ignored.
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
]

export interface FuzzRun {
  program: string
  /** Name for the report and the configuration of the fuzzer. */
  folder: string
  baseUrl: string
  /** An access token or an API key. */
  credential: string
  /** Generated requests per operation and phase. */
  examples: number
  /** Ids of the operations to fuzz; null means all except the excluded ones. */
  only: string[] | null
  excluded: string[]
  /** Also calls operations with data from earlier responses, such as a post id. */
  isStateful: boolean
}

export interface FuzzResult {
  /** True when every response passed every check. */
  isClean: boolean
  output: string
}

/** Sends generated requests to the API and checks the responses. */
export async function fuzz(options: FuzzRun): Promise<FuzzResult> {
  const { program, folder, baseUrl, credential, examples, only, excluded, isStateful } = options
  const configFile = join(folder, 'schemathesis.toml')
  await writeFile(configFile, CONFIGURATION)
  const child = spawn(
    program,
    [
      ...['--config-file', configFile],
      ...['run', `${baseUrl}/api/openapi.json`],
      ...['--header', `Authorization: Bearer ${credential}`],
      ...['--checks', CHECKS.join(',')],
      ...['--phases', `examples,coverage,fuzzing${isStateful ? ',stateful' : ''}`],
      ...['--max-examples', String(examples), '--seed', String(SEED)],
      // Two threads that parse Python at the same moment make CPython before 3.11.8 and 3.12.2 fail with a SystemError. They are no faster.
      ...['--request-timeout', '30', '--workers', '1', '--no-shrink', '--continue-on-failure'],
      ...['--max-redirects', '0', '--no-color', '--warnings', 'off'],
      ...(only ?? []).flatMap((id) => ['--include-operation-id', id]),
      ...excluded.flatMap((id) => ['--exclude-operation-id', id]),
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
  ])
  return { isClean: code === 0, output: `${stdout}${stderr}` }
}

/** This route returns 503 by design: no worker runs beside the API here. */
const CONFIGURATION = `
[[operations]]
include-operation-id = "checkDelivery"
checks.not_a_server_error.expected-statuses = ["2xx", "4xx", "503"]
`
