import { describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { ConfigError, readConfig } from '../../../src/config/schema.ts'
import { platformSettings } from '../../../src/config/platforms.ts'
import { toUserAgent } from '../../../src/config/user-agent.ts'
import { CONFIG_SECRETS as secrets } from './secrets.ts'

/** Returns the message of the configuration error; empty for a valid configuration. */
function readConfigError(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('the configuration', () => {
  it('the configuration reports all missing secrets together, by name', () => {
    const message = readConfigError({})
    for (const name of Object.keys(secrets)) expect(message).toContain(name)
  })

  it('an invalid variable is named without its value', () => {
    const message = readConfigError({ ...secrets, JWT_SECRET: 'too-short-canary', PORT: 'four thousand' })
    expect(message).toContain('JWT_SECRET')
    expect(message).toContain('PORT')
    expect(message).not.toMatch(/too-short-canary|four thousand/)
  })

  it.each([
    [{ MASTODON_INSTANCE_URL: 'https://mastodon.example' }, ['MASTODON_CLIENT_ID', 'MASTODON_CLIENT_SECRET']],
    [{ THREADS_APP_ID: '4711' }, ['THREADS_APP_SECRET']],
  ])('a platform without application credentials is rejected: %j', (some, needed) => {
    const message = readConfigError({ ...secrets, ...some })
    for (const name of needed) expect(message).toContain(name)
  })

  it.each(['', 'read_insights', 'read_insights, pages_read_user_content', 'one,'])(
    'META_EXTRA_SCOPES accepts permission names: %j',
    (line) => {
      const facebook = { FACEBOOK_APP_ID: '4711', FACEBOOK_APP_SECRET: 's' }
      const config = readConfig({ ...secrets, ...facebook, META_EXTRA_SCOPES: line })
      expect(platformSettings(config).facebook?.extraScopes).toEqual(line.match(/\w+/g) ?? [])
    },
  )

  it("each of Meta's logins requests only its own permissions of META_EXTRA_SCOPES", () => {
    const apps = { FACEBOOK_APP_ID: '1', FACEBOOK_APP_SECRET: 's', THREADS_APP_ID: '2', THREADS_APP_SECRET: 's' }
    const line = 'pages_manage_engagement,threads_read_replies'
    const { facebook, threads } = platformSettings(readConfig({ ...secrets, ...apps, META_EXTRA_SCOPES: line }))
    expect(facebook?.extraScopes).toEqual(['pages_manage_engagement'])
    expect(threads?.extraScopes).toEqual(['threads_read_replies'])
  })

  it('production rejects an https address until the trusted proxy is configured', () => {
    const https = { ...secrets, PUBLIC_URL: 'https://api.example.test' }
    expect(readConfigError(https)).toContain('TRUSTED_PROXIES')
    expect(readConfigError({ ...https, TRUSTED_PROXIES: ' ' })).toContain('TRUSTED_PROXIES')
    for (const TRUSTED_PROXIES of ['none', '10.0.0.1']) expect(readConfigError({ ...https, TRUSTED_PROXIES })).toBe('')
    expect(readConfigError({ ...https, NODE_ENV: 'development' })).toBe('')
    expect(readConfigError(secrets)).toBe('')
  })

  it('no private server is allowed by default, and production rejects one', () => {
    expect(readConfig(secrets).ALLOWED_PRIVATE_SERVERS).toBe('')
    const loopback = { ...secrets, ALLOWED_PRIVATE_SERVERS: 'http://127.0.0.1:3000' }
    expect(readConfigError(loopback)).toContain('ALLOWED_PRIVATE_SERVERS must be empty in production')
    expect(readConfigError({ ...loopback, NODE_ENV: 'development' })).toBe('')
    const anyPort = { ...loopback, ALLOWED_PRIVATE_SERVERS: 'http://localhost:*, http://127.0.0.1:*' }
    expect(readConfigError(anyPort)).toContain('ALLOWED_PRIVATE_SERVERS must be empty in production')
    expect(readConfigError({ ...anyPort, NODE_ENV: 'development' })).toBe('')
  })

  it.each(['read insights', 'Read_Insights', 'a&client_id=1', 'a;b'])(
    'an invalid scope list is rejected: %j',
    (line) => {
      expect(readConfigError({ ...secrets, META_EXTRA_SCOPES: line })).toContain('META_EXTRA_SCOPES')
    },
  )

  it.each(['api.stripe.com', '/v1', 'https//api.stripe.com', 'https://'])(
    'a value that is not a URL is rejected: %j',
    (line) => {
      expect(readConfigError({ ...secrets, STRIPE_API_URL: line })).toContain('STRIPE_API_URL')
    },
  )

  it('the configuration defaults to production, fills in defaults and is frozen', () => {
    const config = readConfig(secrets)
    expect(config).toMatchObject({ NODE_ENV: 'production', PORT: 4_000, ACCESS_TOKEN_TTL_SECONDS: 600 })
    expect(Object.isFrozen(config)).toBe(true)
  })

  it.each([
    [{ PUBLIC_URL: 'https://api.example.test', TRUSTED_PROXIES: 'none' }, 'https://api.example.test/'],
    [{ CONTACT_URL: 'https://example.test/postonce' }, 'https://example.test/postonce'],
    [{ CONTACT_URL: 'https://bücher.example.test/über' }, 'https://xn--bcher-kva.example.test/%C3%BCber'],
  ])('the User-Agent names the service, its version and a contact address (%o)', (env, contact) => {
    const { name, version } = manifest
    expect(toUserAgent(readConfig({ ...secrets, ...env }))).toBe(`${name}/${version} (+${contact})`)
  })

  it('the API itself is the default frontend exactly when it serves the console', () => {
    const own = { ...secrets, PUBLIC_URL: 'http://api.example.test' }
    expect(readConfig(own)).toMatchObject({ CONSOLE: 'off', FRONTEND_URL: 'http://localhost:3000' })
    expect(readConfig({ ...own, CONSOLE: 'on', FRONTEND_URL: '' }).FRONTEND_URL).toBe('http://api.example.test')
    const other = { FRONTEND_URL: 'http://app.example.test' }
    expect(readConfig({ ...own, CONSOLE: 'on', ...other })).toMatchObject(other)
    expect(readConfigError({ ...own, CONSOLE: 'yes' })).toContain('CONSOLE')
  })

  it('an empty variable counts as not set', () => {
    expect(readConfig({ ...secrets, PORT: '' }).PORT).toBe(4_000)
  })
})
