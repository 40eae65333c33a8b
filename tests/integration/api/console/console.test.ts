import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildConsole } from '../../../../scripts/build-console.ts'
import { apiWorld, type ApiWorld } from '../../../support/api.ts'

let world: ApiWorld
let url: string

beforeAll(async () => {
  await buildConsole()
  world = await apiWorld({ CONSOLE: 'on' })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

it('the API serves the page of the console and all files that it names', async () => {
  const page = await fetch(`${url}/login`)
  expect(page.headers.get('content-security-policy')).toContain(`connect-src 'self' ${world.context.config.PUBLIC_URL}`)
  const html = await page.text()
  const files = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!)
  expect(files.filter((path) => path.endsWith('.js'))).not.toEqual([])
  for (const path of files) expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
  const script = await fetch(url + files.find((path) => path.endsWith('.js'))!)
  expect(script.headers.get('content-encoding')).toBe('gzip')
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
})

it('the paths of the API are those that it has without the console', async () => {
  const responses = await Promise.all(
    ['/api/unknown', '/docs/unknown', '/health/unknown', '/socket.io/unknown', '/metrics'].map((path) =>
      fetch(url + path),
    ),
  )
  for (const response of responses) {
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'NOT_FOUND' }])
  }
  expect((await fetch(`${url}/api/posts`)).status).toBe(401)
  expect(await (await fetch(`${url}/docs`)).text()).toContain('swagger')
})

it('the API without the console has no page and the same documentation', async () => {
  const without = await apiWorld()
  for (const path of ['/', '/login', '/icon.svg']) {
    expect((await without.app.inject(path)).json()).toMatchObject({ code: 'NOT_FOUND' })
  }
  expect(world.app.swagger()).toEqual(without.app.swagger())
  await without.close()
})
