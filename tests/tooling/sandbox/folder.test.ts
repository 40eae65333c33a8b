import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { processesFile, takeFolder } from '../../../sandbox/folder.ts'
import { readOptions, type Options } from '../../../sandbox/options.ts'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import { serviceEnvironment } from '../../../sandbox/service.ts'
import { resolveSettings } from '../../../sandbox/settings.ts'
import { isAlive } from '../../../scripts/provision.mjs'
import { accountLimits, planLimits } from '../../../src/config/plans.ts'
import { readConfig } from '../../../src/config/schema.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let home: string
let options: Options

beforeEach(() => {
  home = temporaryFolder()
  options = readOptions(['--dir', 'world'], home)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})

describe('options', () => {
  test('options have defaults', () => {
    expect(readOptions([], '/somewhere')).toMatchObject({ fresh: false, port: undefined, firstPost: true })
  })

  test("options are parsed, and folders are relative to the caller's folder", () => {
    expect(readOptions(['--dir', 'box', '--fresh', '--port', '4100', '--no-first-post'], '/somewhere')).toEqual({
      dir: '/somewhere/box',
      fresh: true,
      port: 4100,
      firstPost: false,
      frontend: null,
      corsOrigins: [],
    })
  })

  test.each([
    ['--port', '0'],
    ['--port', 'four'],
    ['--port', '70000'],
    ['--prot', '1'],
    ['extra'],
    ['--frontend', 'my-app'],
    ['--frontend', 'localhost:5173'],
  ])('invalid options are refused: %s %s', (...args) => {
    expect(() => readOptions(args, '/')).toThrow()
  })

  test('environment variables name a frontend and origins, and --frontend overrides them', () => {
    const env = { FRONTEND_URL: 'http://localhost:5173/', CORS_ORIGINS: 'http://one.test, http://two.test/' }
    expect(readOptions([], '/', env)).toMatchObject({
      frontend: 'http://localhost:5173',
      corsOrigins: ['http://one.test', 'http://two.test'],
    })
    expect(readOptions(['--frontend', 'http://localhost:8000'], '/', env).frontend).toBe('http://localhost:8000')
  })

  test('an option that is no web URL is refused with a message that names it', () => {
    expect(() => readOptions(['--frontend', 'my-app'], '/')).toThrow('--frontend my-app is not the URL of a web page')
    expect(() => readOptions([], '/', { FRONTEND_URL: 'ftp://files' })).toThrow('FRONTEND_URL ftp://files is not')
    expect(() => readOptions([], '/', { CORS_ORIGINS: '*' })).toThrow('CORS_ORIGINS * is not an origin')
  })
})

describe('the environment of the service', () => {
  const addresses = { mongoUrl: 'mongodb://one', temporalAddress: 'two:7233', storageEndpoint: 'http://three' }

  test("redirects lead to the user's own frontend, and the sandbox's page may call the API as well", async () => {
    const chosen = readOptions(['--dir', 'world', '--frontend', 'https://app.test'], home, {
      CORS_ORIGINS: 'http://x.test',
    })
    const { settings } = await resolveSettings(chosen)
    const env = serviceEnvironment(settings, addresses, {}, chosen)
    expect(env['FRONTEND_URL']).toBe('https://app.test')
    expect(env['CORS_ORIGINS']?.split(',')).toEqual(
      expect.arrayContaining([`http://localhost:${settings.ports.frontend}`, 'http://localhost:3000', 'http://x.test']),
    )
  })

  test('the plans leave room for the guides beside the sample accounts, and Pro has more than Free', async () => {
    const { settings } = await resolveSettings(options)
    const config = readConfig(serviceEnvironment(settings, addresses, {}, options))
    const [ofSamples, ofGuides] = [8, 3]
    const { free, pro } = accountLimits(config)
    expect(free).toBeGreaterThanOrEqual(ofSamples + ofGuides)
    expect(pro).toBeGreaterThan(free)
    const limits = planLimits(config)
    for (const name of ['maxPosts', 'maxCaptionGenerations'] as const) {
      expect(limits.pro[name]).toBeGreaterThan(limits.free[name])
    }
  })

  test("redirects lead to the sandbox's page when the user names no frontend", async () => {
    const { settings } = await resolveSettings(options)
    const env = serviceEnvironment(settings, addresses, {}, options)
    expect(env['FRONTEND_URL']).toBe(`http://localhost:${settings.ports.frontend}`)
  })
})

describe('the folder of a sandbox', () => {
  test('a folder belongs to one sandbox at a time', async () => {
    mkdirSync(options.dir)
    const script = join(home, 'sandbox', 'main.ts')
    mkdirSync(join(home, 'sandbox'))
    writeFileSync(script, 'setInterval(() => {}, 1000); console.log("up")')
    const other = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(other.stdout, 'data')
    symlinkSync(String(other.pid), join(options.dir, 'sandbox.lock'))
    await expect(takeFolder(options)).rejects.toThrow(`A sandbox already runs in ${options.dir} (process ${other.pid})`)

    other.kill('SIGKILL')
    await once(other, 'exit')
    const giveBack = await takeFolder(options)
    giveBack()
    expect(readdirSync(options.dir)).not.toContain('sandbox.lock')
  })

  test('a folder is taken over when the process id in its lock belongs to another program', async () => {
    mkdirSync(options.dir)
    symlinkSync(String(process.ppid), join(options.dir, 'sandbox.lock'))
    ;(await takeFolder(options))()
  })

  test('servers that outlived an earlier start, and its world.json, are removed from the folder', async () => {
    mkdirSync(options.dir)
    const left = spawn('sleep', ['60.125'], { stdio: 'ignore' })
    await once(left, 'spawn')
    const processes = {
      storage: { pid: left.pid, program: 'sleep 60.125' },
      api: { pid: process.pid, program: 'src/server.ts' },
    }
    writeFileSync(processesFile(options.dir), JSON.stringify(processes))
    writeFileSync(join(options.dir, 'world.json'), '{}')
    await takeFolder(options)
    expect(isAlive(left.pid ?? 0)).toBe(false)
    expect(existsSync(join(options.dir, 'world.json'))).toBe(false)
  })

  test('--fresh deletes the data of a sandbox', async () => {
    mkdirSync(options.dir)
    const { settings: before } = await resolveSettings(options)
    await takeFolder({ ...options, fresh: true })
    expect((await resolveSettings(options)).settings.secrets).not.toEqual(before.secrets)
  })

  test('--fresh deletes nothing in a folder that is not a sandbox', async () => {
    mkdirSync(options.dir)
    const thesis = join(options.dir, 'thesis.txt')
    writeFileSync(thesis, 'years of work')
    await expect(takeFolder({ ...options, fresh: true })).rejects.toThrow('is not empty and is not a sandbox')
    expect(readFileSync(thesis, 'utf8')).toBe('years of work')
  })
})

describe('settings', () => {
  test('settings keep secrets and users between starts, and ports while they are free', async () => {
    mkdirSync(options.dir)
    const { settings: first } = await resolveSettings({ ...options, port: 45_871 })
    expect(first.ports.api).toBe(45_871)
    const { settings: second, moved } = await resolveSettings(options)
    expect(second.secrets).toEqual(first.secrets)
    expect(second.users).toEqual(first.users)
    // This process holds the first ports, as another program would.
    expect(second.ports.api).not.toBe(first.ports.api)
    expect(moved).toContainEqual({ name: 'api', from: first.ports.api, to: second.ports.api })
  })

  test('a requested port that another program uses is refused', async () => {
    const other = createServer()
    const port = Number(new URL(await listenOnLoopback(other)).port)
    await expect(resolveSettings({ ...options, port })).rejects.toThrow(`Port ${port} is used by another program.`)
    await closeServer(other)
    expect(existsSync(join(options.dir, 'settings.json'))).toBe(false)
  })

  test("the port of the user's own frontend stays free, even if the sandbox used it before", async () => {
    const other = createServer()
    const frontend = Number(new URL(await listenOnLoopback(other)).port)
    await closeServer(other)
    mkdirSync(options.dir)
    writeFileSync(join(options.dir, 'settings.json'), JSON.stringify({ ports: { frontend } }))
    const { settings } = await resolveSettings({ ...options, frontend: `http://localhost:${frontend}` })
    expect(settings.ports.frontend).not.toBe(frontend)
  })

  test('settings of an older sandbox get the missing secrets and keep the others', async () => {
    mkdirSync(options.dir)
    const { settings: first } = await resolveSettings(options)
    const { oauthState: _, ...older } = first.secrets
    writeFileSync(join(options.dir, 'settings.json'), JSON.stringify({ ...first, secrets: older }))
    const { secrets } = (await resolveSettings(options)).settings
    expect(secrets).toEqual({ ...older, oauthState: expect.stringMatching(/^[\w-]{64}$/) })
    expect((await resolveSettings(options)).settings.secrets).toEqual(secrets)
  })

  test('settings differ between sandboxes', async () => {
    const other = { ...options, dir: join(home, 'other') }
    const [{ settings: one }, { settings: two }] = [await resolveSettings(options), await resolveSettings(other)]
    expect(one.secrets.jwt).not.toBe(two.secrets.jwt)
    expect(one.users.user.password).not.toBe(two.users.user.password)
  })
})
