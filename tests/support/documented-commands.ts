import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** A `curl` for machines without it, with the options that the guides use. */
const CURL = `
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
const { values, positionals } = parseArgs({
  args: process.argv.slice(1),
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'no-buffer': { type: 'boolean', short: 'N' },
    'max-time': { type: 'string', short: 'm' },
    'data-binary': { type: 'string' },
  },
})
const file = values['data-binary']?.replace(/^@/, '')
const body = file === undefined ? values.data : readFileSync(file)
const response = await fetch(positionals[0], {
  method: values.request ?? (body === undefined ? 'GET' : 'POST'),
  headers: values.header.map((line) => line.split(/: (.*)/s).slice(0, 2)),
  body,
})
if (values['max-time']) setTimeout(() => process.exit(28), values['max-time'] * 1_000).unref()
for await (const bytes of response.body) process.stdout.write(bytes)
`

/** Returns the shell commands below this heading of a page of `docs`. */
export function readCommands(page: string, heading: string): string {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const block = text.split(`# ${heading}\n`)[1]?.split('```sh\n')[1]?.split('```')[0]
  if (!block) throw new Error(`${page} has no commands below "${heading}"`)
  return block
}

/** Returns the JavaScript examples of a page, by its path in the repository. */
export function readExamples(page: string): string[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
}

/** Runs shell commands in a folder and returns their output. Every command has to succeed. */
export async function runCommands(commands: string, env: Record<string, string>, cwd: string): Promise<string> {
  const prelude = `set -euo pipefail\ncurl() { node --input-type=module -e "$CURL" -- "$@"; }\n`
  const { stdout } = await promisify(execFile)('bash', ['-c', prelude + commands], {
    cwd,
    env: { ...env, CURL, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
  })
  return stdout
}
