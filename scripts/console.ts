/**
 * `npm run console`: serves the console from its sources, with hot reload, to work on it while `npm run dev` runs.
 *
 *   --dir <folder>    the folder of that sandbox (default: .sandbox)
 *   --port <n>        port of the page (default: 5173); the sandbox must allow another one in CORS_ORIGINS
 */
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { readOptions } from '../sandbox/options.ts'
import { CONSOLE_PORT } from '../sandbox/service.ts'
import { readWorld } from '../sandbox/world.ts'
import { CONSOLE, VITE } from './build-console.ts'
import { say } from './provision.mjs'

const { values } = parseArgs({
  options: { dir: { type: 'string' }, port: { type: 'string', default: String(CONSOLE_PORT) } },
})
const { dir } = readOptions(values.dir === undefined ? [] : ['--dir', values.dir], process.env['INIT_CWD'] ?? '')
const world = readWorld(dir)
if (world === null) {
  say(`No sandbox is running in ${dir}. Start it with "npm run dev", and wait until it is ready.`)
  process.exit(1)
}
say(`The page uses the API at ${world.api}. Log in as ${world.users[0]?.email}  ${world.users[0]?.password}`)
process.env['API_URL'] = world.api
process.chdir(CONSOLE)
process.argv = [process.execPath, VITE, '--port', values.port, '--strictPort']
await import(pathToFileURL(VITE).href)
