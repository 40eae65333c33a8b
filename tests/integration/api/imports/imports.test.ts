import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPost } from '../../../../src/commands/posts/create-post.ts'
import { applyRows } from '../../../../src/commands/imports/apply-rows.ts'
import { MAX_IMPORT_ROWS, MAX_IMPORTS } from '../../../../src/domain/imports/imports.ts'
import type { Post } from '../../../../src/domain/posts/post.ts'
import { PLATFORMS } from '../../../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/shared/times.ts'
import { raceAbort } from '../../../../src/flow/deadlines.ts'
import { createTestKey } from '../../../support/api-keys.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { collectCommands } from '../../../support/driver-commands.ts'
import { INACTIVE_ORCHESTRATOR } from '../../../support/inactive-orchestrator.ts'
import { applyAll, importClient } from '../../../support/imports.ts'
import { addAccount, connectAccounts } from '../../../support/published.ts'

let world: ApiWorld
const { commands, onCommand } = collectCommands()

beforeAll(async () => {
  world = await apiWorld({}, { orchestrator: INACTIVE_ORCHESTRATOR, onCommand })
})
afterAll(() => world?.close())

let address: Promise<string> | undefined
const listen = () => (address ??= world.app.listen({ host: '127.0.0.1', port: 0 }))

/** Measures the CPU time of this thread between two turns of the event loop, until the returned function is called. */
function watchTurns(): () => number {
  let longestMs = 0
  let isOver = false
  let usage = process.threadCpuUsage()
  const measure = () => {
    const { user, system } = process.threadCpuUsage(usage)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    usage = process.threadCpuUsage()
    if (!isOver) setImmediate(measure)
  }
  setImmediate(measure)
  return () => {
    isOver = true
    return longestMs
  }
}

const START = new Date(Date.now() + DAY)
const at = (minutes: number) => new Date(START.getTime() + minutes * MINUTE).toISOString()
const row = (text: string, fields: object = {}) => ({ content: { text }, selectedPlatforms: ['bluesky'], ...fields })
const scheduled = (text: string, minutes: number, fields: object = {}) =>
  row(text, { scheduledAt: at(minutes), ...fields })

async function newUser(changes: Parameters<typeof signIn>[1] = {}) {
  const who = await signIn(world.context, changes)
  await connectAccounts(world.context, who.user._id, ['bluesky', 'threads'])
  return { who, userId: who.user._id, client: importClient(world.app, who) }
}

const limits = (maxPosts: number) => ({ limits: { maxPosts, maxCaptionGenerations: 15 } })
const postsOf = (userId: string) => Array.fromAsync(world.context.posts.allOf(userId))
const storedRows = (userId: string) =>
  world.context.database.connection.collection('importRows').countDocuments({ userId })

describe('planning an import', () => {
  it('a plan says per row what would be created, and creates nothing', async () => {
    const { client, userId } = await newUser(limits(5))
    const { status, body } = await client.sendJson([
      scheduled('One', 0),
      row('Two', { status: 'DRAFT' }),
      row('Three'),
      row('x'.repeat(301)),
      row('x'.repeat(302), { status: 'DRAFT' }),
      row('Four', { selectedPlatforms: ['instagram'], status: 'DRAFT' }),
      { content: { text: 5 }, selectedPlatforms: ['bluesky'] },
    ])
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      state: 'planned',
      format: 'json',
      rows: 7,
      counts: { ready: 3, warning: 2, conflict: 0, error: 2, created: 0 },
      posts: { drafts: 3, scheduled: 1, immediate: 1 },
      allowance: { used: 0, limit: 5, needed: 5, missing: 0 },
    })
    const rows = await client.rows(body.data.id)
    expect(rows.map(({ status: one }) => one)).toEqual([
      ...['ready', 'ready', 'ready', 'error', 'warning', 'warning', 'error'],
    ])
    expect(rows[0]!.post).toMatchObject({ content: { text: 'One' }, scheduledAt: at(0), timezone: 'UTC' })
    expect(rows[3]!.errors).toMatchObject([{ path: 'content.text', code: 'TEXT_TOO_LONG' }])
    expect(rows[6]).toMatchObject({ post: null, errors: [{ path: 'content.text', code: 'TYPE' }] })
    expect(await postsOf(userId)).toEqual([])
    expect((await client.call('GET', '/api/imports')).body.data).toEqual([body.data])
  })

  it('rows conflict with stored posts and with earlier rows', async () => {
    const { client, userId } = await newUser()
    const input = { content: { text: 'Stored' }, selectedPlatforms: ['bluesky' as const], scheduledAt: at(0) }
    const { data } = await createPost(world.context, {
      userId,
      input,
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    const { body } = await client.sendJson(
      [
        scheduled('Near', 9),
        scheduled('Free', 30),
        scheduled('Near a row', 35),
        scheduled('Other account', 1, { selectedPlatforms: ['threads'] }),
        scheduled('Stored', 60),
      ],
      '?gapMinutes=10',
    )
    expect(body.data.counts).toMatchObject({ ready: 2, conflict: 3 })
    const rows = await client.rows(body.data.id, '&status=conflict')
    expect(rows.map(({ row: number, conflicts }) => ({ number, conflicts }))).toMatchObject([
      { number: 1, conflicts: [{ code: 'TOO_CLOSE', withPostId: data.postId }] },
      { number: 3, conflicts: [{ code: 'TOO_CLOSE', withRow: 2 }] },
      { number: 5, conflicts: [{ code: 'DUPLICATE_CONTENT', withPostId: data.postId }] },
    ])
  })

  it('a time that has passed is an error, so that no old post is published immediately', async () => {
    const { client } = await newUser()
    const past = new Date(Date.now() - HOUR).toISOString()
    const { body } = await client.sendJson([
      row('a', { scheduledAt: past }),
      row('b', { scheduledAt: past, status: 'DRAFT' }),
    ])
    const rows = await client.rows(body.data.id)
    expect(rows).toMatchObject([
      { status: 'error', errors: [{ code: 'SCHEDULED_IN_PAST' }], warnings: [] },
      { status: 'warning', errors: [], warnings: [{ code: 'SCHEDULED_IN_PAST' }] },
    ])
  })

  it('times without an offset are in the time zone of the row, or else of the import', async () => {
    const { client, userId } = await newUser()
    const csv =
      'text,platforms,scheduledAt,timezone\na,bluesky,2090-05-01T09:00,\nb,bluesky,2090-05-01T09:00,Asia/Tokyo\n'
    const { body } = await client.sendCsv(csv, '?timezone=Europe/Berlin')
    await client.call('POST', `/api/imports/${body.data.id}/apply`)
    await applyAll(world.context, userId, body.data.id)
    const posts = (await postsOf(userId)).map(({ content, scheduledAt }) => [content.text, scheduledAt!.toISOString()])
    expect(Object.fromEntries(posts)).toEqual({ a: '2090-05-01T07:00:00.000Z', b: '2090-05-01T00:00:00.000Z' })
    expect((await client.sendCsv(csv, '?timezone=Berlin')).body).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'timezone' }],
    })
  })

  it('rows above the publication quota of their account are warned with the time of their turn', async () => {
    const { client, userId } = await newUser()
    const account = (await world.context.accounts.findDefault(userId, 'bluesky'))!
    const adapter = world.context.platforms.find('bluesky')!
    const { publicationQuota } = adapter
    const limits = [{ span: 'hour', limit: 2, windowMs: HOUR }]
    Object.assign(adapter, {
      publicationQuota: ({ accountId }: { accountId: string }) =>
        accountId === account.platformId ? { key: `quota ${accountId}`, limits } : null,
    })
    const input = { content: { text: 'Stored' }, selectedPlatforms: ['bluesky' as const], scheduledAt: at(0) }
    await createPost(world.context, { userId, input, metadata: { source: 'api', client: 'api' }, idempotency: null })
    const { body } = await client.sendJson([
      scheduled('a', 40),
      scheduled('b', 20),
      scheduled('c', 90),
      row('d', { status: 'DRAFT' }),
    ])
    Object.assign(adapter, { publicationQuota })
    expect(body.data.counts).toMatchObject({ ready: 3, warning: 1 })
    expect((await client.rows(body.data.id))[0]).toMatchObject({
      status: 'warning',
      warnings: [{ path: 'selectedPlatforms.0', code: 'QUOTA_LIKELY_EXCEEDED', nextFreeAt: at(60) }],
    })
  })

  it('the platforms of several accounts are asked side by side', async () => {
    const { client, userId } = await newUser()
    await addAccount(world.context, userId, { platform: 'bluesky', platformId: 'did:plc:second' })
    const accounts = (await world.context.accounts.listConnected(userId)).filter((one) => one.platform === 'bluesky')
    const adapter = world.context.platforms.find('bluesky')!
    const { publicationQuota, readPublicationQuota } = adapter
    const limits = [{ span: 'hour', limit: 1, windowMs: HOUR }]
    const asked = new Set<string>()
    const allAsked = Promise.withResolvers<void>()
    Object.assign(adapter, {
      publicationQuota: ({ accountId }: { accountId: string }) => ({ key: `quota ${accountId}`, limits }),
      // Answers no account before all of them are asked.
      async readPublicationQuota({ accountId }: { accountId: string }, { signal }: { signal: AbortSignal }) {
        asked.add(accountId)
        if (asked.size === accounts.length) allAsked.resolve()
        await raceAbort(allAsked.promise, signal)
        return [{ span: 'hour', limit: 5, remaining: 5, resetsInMs: HOUR }]
      },
    })
    const selectedAccounts = accounts.map(({ _id }) => _id)
    const toRow = (text: string, minutes: number) => ({ content: { text }, selectedAccounts, scheduledAt: at(minutes) })
    const { body } = await client.sendJson([toRow('a', 0), toRow('b', 20), toRow('c', 40)])
    Object.assign(adapter, { publicationQuota, readPublicationQuota })
    expect(asked.size).toBe(2)
    expect(body.data.counts).toMatchObject({ ready: 3, warning: 0 })
  })

  it('rows beyond the burst limit of one second are warned with their due time', async () => {
    const { client } = await newUser()
    const rows = Array.from({ length: 252 }, (_, index) => scheduled(`Post ${index}`, 0))
    const planned = (await client.sendJson([...rows, row('Immediate')], '?gapMinutes=0')).body.data
    expect(planned.counts).toMatchObject({ ready: 251, warning: 2 })
    const found = await client.rows(planned.id, '&status=warning')
    expect(found).toMatchObject([251, 252].map((number) => ({ row: number, warnings: [{ code: 'TIME_CROWDED' }] })))
  })

  it('10,000 rows are read with bounded memory and a bounded number of database commands', async () => {
    const { who, client } = await newUser(limits(4))
    const encoder = new TextEncoder()
    const filler = 'word '.repeat(40)
    let largest = 0
    function* file() {
      yield encoder.encode('[')
      for (let index = 0; index < MAX_IMPORT_ROWS; index += 1) {
        if (index % 1_000 === 0) largest = Math.max(largest, process.memoryUsage().heapUsed)
        const text = `${index === 0 ? '' : ','}${JSON.stringify(scheduled(`${index} ${filler}`, index * 6))}`
        yield encoder.encode(text)
      }
      yield encoder.encode(']')
    }
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    commands.length = 0
    const response = await fetch(`${await listen()}/api/imports`, {
      method: 'POST',
      headers: { ...who.headers, 'content-type': 'application/json' },
      body: ReadableStream.from(file()) as never,
      duplex: 'half',
    })
    const { data } = (await response.json()) as {
      data: { id: string; rows: number; counts: object; allowance: object }
    }
    expect(response.status).toBe(201)
    expect(data).toMatchObject({
      rows: MAX_IMPORT_ROWS,
      counts: { error: 0, conflict: 0 },
      allowance: { limit: 4, needed: MAX_IMPORT_ROWS, missing: MAX_IMPORT_ROWS - 4 },
    })
    expect(commands.length).toBeLessThan(150)
    expect(largest - before).toBeLessThan(120_000_000)
    expect((await client.call('DELETE', `/api/imports/${data.id}`)).status).toBe(200)
    expect(await storedRows(who.user._id)).toBe(0)
  })

  it.each(['json', 'csv'] as const)(
    'long texts for all platforms in a %s file leave turns to other requests',
    async (format) => {
      const { client, userId } = await newUser()
      const text = '👍🏽 é. '.repeat(1_000)
      const texts = Array.from({ length: 1_000 }, (_, index) => `${index} ${text}`)
      const selected = [...PLATFORMS]
      const file = Buffer.from(
        format === 'json'
          ? JSON.stringify(texts.map((one) => row(one, { selectedPlatforms: selected })))
          : ['platforms,text', ...texts.map((one) => `${selected.join(';')},${one}`)].join('\n'),
      )
      // The first request compiles the routes.
      await client.call('GET', '/api/imports')
      const stop = watchTurns()
      const { status } = await (format === 'json' ? client.sendText(file) : client.sendCsv(file))
      const longestTurnMs = stop()
      expect(status).toBe(201)
      expect(longestTurnMs).toBeLessThan(150)
      expect(await storedRows(userId)).toBe(1_000)
    },
  )

  it('a user has at most 10 imports, also when two are planned one after the other', async () => {
    const { client, userId } = await newUser()
    for (let nth = 0; nth < MAX_IMPORTS; nth += 1) {
      expect((await client.sendJson([row('a', { status: 'DRAFT' })])).status).toBe(201)
    }
    const refused = await client.sendJson([row('a')])
    expect(refused).toMatchObject({ status: 403, body: { code: 'IMPORT_LIMIT_REACHED', limit: MAX_IMPORTS } })
    const [{ id }] = (await client.call('GET', '/api/imports')).body.data
    expect((await client.call('DELETE', `/api/imports/${id}`)).status).toBe(200)
    expect((await client.sendJson([row('a', { status: 'DRAFT' })])).status).toBe(201)
    expect(await storedRows(userId)).toBe(MAX_IMPORTS)
  })
})

describe('malformed files', () => {
  const csv = (...lines: string[]) => ['text,platforms', ...lines].join('\n')
  it.each([
    [
      'csv',
      `text,platforms${',x'.repeat(100_000)}`,
      'BAD_REQUEST',
      'The header, at line 1 of the file, has more than 100',
    ],
    ['csv', csv(','.repeat(500_000)), 'BAD_REQUEST', 'Row 1, at line 2 of the file, has more than 100 cells'],
    ['csv', csv(',\n'.repeat(51_000)), 'PAYLOAD_TOO_LARGE', 'The file has more than 50000 rows'],
    [
      'csv',
      csv('a,bluesky', '"b,bluesky'),
      'BAD_REQUEST',
      'Row 2, at line 3 of the file, has a quote that is not closed',
    ],
    ['csv', csv('a,bluesky', 'b"c",bluesky'), 'BAD_REQUEST', 'Row 2, at line 3 of the file, is not valid CSV'],
    ['csv', csv(`"${'x'.repeat(1_100_000)}",bluesky`), 'BAD_REQUEST', 'Row 1, at line 2 of the file, is larger than'],
    ['csv', 'textt,platforms\na,bluesky', 'VALIDATION_FAILED', 'The column text is missing'],
    ['csv', 'platforms\nbluesky', 'VALIDATION_FAILED', 'The column text is missing'],
    ['csv', 'text,text\na,b', 'VALIDATION_FAILED', 'The column text is there twice'],
    ['csv', 'text,platforms\n', 'BAD_REQUEST', 'The file has no rows'],
    ['csv', '', 'BAD_REQUEST', 'The file has no rows'],
    ['csv', Buffer.from([...Buffer.from(csv('a')), 0xff, 0xfe]), 'BAD_REQUEST', 'not valid UTF-8 or UTF-16'],
    ['json', '[]', 'BAD_REQUEST', 'The file has no rows'],
    ['json', '{"content": {"text": "a"}}', 'BAD_REQUEST', 'not a JSON array'],
    ['json', '[{"content": {"text": "a"}}, {"content": }]', 'BAD_REQUEST', 'Row 2 is not valid JSON'],
    ['json', '[{"content": {"text": "a"}}', 'BAD_REQUEST', 'The array ends in row 1'],
    ['json', `[1, ${'['.repeat(40)}${']'.repeat(40)}]`, 'BAD_REQUEST', 'Row 2 is nested more than 32 levels deep'],
    ['json', `["${'x'.repeat(1_100_000)}"]`, 'PAYLOAD_TOO_LARGE', 'Row 1 is larger than'],
    ['json', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), 'BAD_REQUEST', 'not valid UTF-8 or UTF-16'],
    ['json', `[${'1,'.repeat(MAX_IMPORT_ROWS)}1]`, 'PAYLOAD_TOO_LARGE', 'at most 10000 rows'],
    ['json', `[${`"${'x'.repeat(1_000_000)}",`.repeat(17)}1]`, 'PAYLOAD_TOO_LARGE', 'too large'],
  ])('the %s file is refused whole with the place of the mistake: %#', async (format, text, code, message) => {
    const { client, userId } = await newUser()
    const { body } = await (format === 'csv' ? client.sendCsv(text) : client.sendText(text))
    expect(body).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(await storedRows(userId)).toBe(0)
    expect((await client.call('GET', '/api/imports')).body.data).toEqual([])
  })

  it('values that are not allowed are errors of their rows', async () => {
    const { client } = await newUser()
    const { body } = await client.sendText(
      '[1, null, {"selectedPlatforms": ["bluesky"]}, {"content": {"text": "a"}, "selectedPlatforms": ["myspace"]}, {"content": {"text": "\\u0000"}, "selectedPlatforms": ["bluesky"]}, {"content": {"text": "a"}, "selectedPlatforms": []}, {"content": {"text": "a"}, "selectedPlatforms": ["bluesky"], "scheduledAt": "soon"}, {"content": {"text": "a"}, "selectedPlatforms": [], "selectedAccounts": ["000000000000000000000000"]}]',
    )
    const rows = await client.rows(body.data.id)
    expect(rows.map(({ errors }) => errors[0])).toMatchObject([
      { path: '', code: 'TYPE', message: expect.stringContaining('The row must be an object') },
      { path: '', code: 'TYPE' },
      { path: 'content', code: 'REQUIRED' },
      { path: 'selectedPlatforms.0', code: 'NOT_ALLOWED' },
      { path: 'content.text', code: 'INVALID_CHARACTERS' },
      { path: 'selectedPlatforms', code: 'TOO_SHORT' },
      { path: 'scheduledAt', code: 'DATE_TIME_INVALID' },
      { path: 'selectedAccounts.0', code: 'ACCOUNT_NOT_FOUND' },
    ])
  })

  it('only the first 20 problems of a row are stored', async () => {
    const { client } = await newUser()
    const mediaItems = Array.from({ length: 2_000 }, () => 1)
    const { body } = await client.sendJson([{ content: { text: 'a', mediaItems }, selectedPlatforms: ['bluesky'] }])
    expect((await client.rows(body.data.id))[0]!.errors).toHaveLength(20)
  })

  it('other types and compressed files are refused', async () => {
    const { who } = await newUser()
    const send = (headers: Record<string, string>) =>
      world.app.inject({ method: 'POST', url: '/api/imports', headers: { ...who.headers, ...headers }, payload: '[]' })
    expect((await send({ 'content-type': 'text/plain' })).statusCode).toBe(415)
    expect((await send({ 'content-type': 'application/json', 'content-encoding': 'gzip' })).statusCode).toBe(415)
  })

  it('10,000 rows with many problems each are planned, however slowly they are checked', async () => {
    const { client, who } = await newUser()
    const bad = `{"content":{"text":5,"mediaItems":[${'1,'.repeat(700)}1]},"selectedPlatforms":[]}`
    const response = await fetch(`${await listen()}/api/imports`, {
      method: 'POST',
      headers: { ...who.headers, 'content-type': 'application/json' },
      body: `[${`${bad},`.repeat(MAX_IMPORT_ROWS - 1)}${bad}]`,
    })
    expect(response.status).toBe(201)
    const { data } = (await response.json()) as { data: { id: string; counts: object } }
    expect(data.counts).toMatchObject({ error: MAX_IMPORT_ROWS })
    await client.call('DELETE', `/api/imports/${data.id}`)
  })
})

describe('the CSV files of spreadsheets', () => {
  const ROWS = 'Platforms,STATUS,text\r\nbluesky;threads,DRAFT,"Say ""hi"",\nand more"\r\n\r\nBluesky, DRAFT,\'=1+1\r\n'
  const toUtf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()
  it.each<[string, string | Buffer]>([
    ['a byte order mark', `\ufeff${ROWS}`],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${ROWS}`, 'utf16le')],
    ['big-endian UTF-16 with a byte order mark', toUtf16be(`\ufeff${ROWS}`)],
    ['UTF-16 without a byte order mark', Buffer.from(ROWS, 'utf16le')],
    ['big-endian UTF-16 without a byte order mark', toUtf16be(ROWS)],
    ['semicolons', 'platforms;status;text\n"bluesky;threads";DRAFT;"Say ""hi"",\nand more"\nBluesky;draft;=1+1\n'],
    ['tabs', 'platforms\tstatus\ttext\rbluesky,threads\tDRAFT\t"Say ""hi"",\nand more"\rbluesky\tDRAFT\t=1+1'],
    ['a line sep=', `sep=,\r\n${ROWS}`],
    [
      'empty columns and rows',
      ',,,\nplatforms,status,text,,\n,,\n"bluesky,threads",DRAFT,"Say ""hi"",\nand more",,,,\n,,,,,\nbluesky,DRAFT,=1+1\n,\n',
    ],
    [
      'rows without their last empty cells',
      'platforms,status,text,media\nbluesky;threads,DRAFT,"Say ""hi"",\nand more"\nbluesky,DRAFT,=1+1,\n',
    ],
  ])('a CSV file with %s has the same rows as any other', async (_name, file) => {
    const { client } = await newUser()
    const { body } = await client.sendCsv(file)
    const rows = await client.rows(body.data.id)
    expect(rows).toMatchObject([
      { errors: [], post: { content: { text: 'Say "hi",\nand more' }, selectedPlatforms: ['bluesky', 'threads'] } },
      { errors: [], post: { content: { text: '=1+1' }, selectedPlatforms: ['bluesky'], status: 'DRAFT' } },
    ])
  })

  it('a JSON file may be UTF-16', async () => {
    const { client } = await newUser()
    const { body } = await client.sendText(
      Buffer.from(`\ufeff${JSON.stringify([row('ä', { status: 'DRAFT' })])}`, 'utf16le'),
    )
    expect(body.data.counts).toMatchObject({ ready: 1 })
  })

  it('times in the order that the request states are those of the time zone', async () => {
    const { client } = await newUser()
    const file = 'text;platforms;scheduledAt\na;bluesky;01.05.2090 09:00\nb;bluesky;2090-05-01 9:30:00\n'
    const query = '?timezone=Europe/Berlin'
    const planned = (await client.sendCsv(file, `${query}&dateOrder=dmy`)).body.data
    expect(await client.rows(planned.id)).toMatchObject([
      { status: 'ready', post: { scheduledAt: '2090-05-01T09:00', timezone: 'Europe/Berlin' } },
      { status: 'ready', post: { scheduledAt: '2090-05-01T09:30:00' } },
    ])
    const unstated = (await client.sendCsv(file, query)).body.data
    expect(await client.rows(unstated.id)).toMatchObject([
      { status: 'error', errors: [{ path: 'scheduledAt', message: expect.stringContaining('dateOrder=dmy') }] },
      { status: 'ready' },
    ])
  })

  it('every cell of a row has one message that names its column', async () => {
    const { client } = await newUser()
    const file =
      'text,platforms,accounts,scheduledAt,timezone,status,media,text_threads,accountContent\n' +
      `${'x'.repeat(100_001)},blusky,a;a,soon,Berlin,LATER,"[{}, {}]",${'y'.repeat(100_001)},[1]\n` +
      `${'x'.repeat(301)},bluesky,,,,,,,\n`
    const { body } = await client.sendCsv(file)
    const [form, rules] = await client.rows(body.data.id)
    expect(form!.errors.map(({ path }) => path).toSorted()).toEqual(
      [
        ...['text', 'platforms', 'accounts', 'scheduledAt', 'timezone', 'status', 'media', 'text_threads'],
        'accountContent',
      ].toSorted(),
    )
    for (const { path, message } of form!.errors) expect(message.startsWith(path)).toBe(true)
    expect(rules!.errors).toMatchObject([{ path: 'text', code: 'TEXT_TOO_LONG' }])
  })

  it('problems of threads and comments name their cells', async () => {
    const { client } = await newUser()
    const { body } = await client.sendCsv(
      [
        'text,platforms,segments,first_comment,on_unsupported,segments_threads,first comment threads',
        `a,bluesky,"two\n---\n${'x'.repeat(301)}",${'y'.repeat(301)},,,`,
        `b,bluesky,"[{""txt"": ""a""}]",${'z'.repeat(100_001)},drop,"[{""text"": 1}]",`,
        'c,facebook,two,,,,',
        'd,facebook,two,,skipplatform,,',
        'e,bluesky;facebook,two,,skipplatform,,',
        '',
      ].join('\n'),
    )
    const [long, form, refused, none, some] = await client.rows(body.data.id)
    const brief = (row: typeof long) => row!.errors.map(({ path, code }) => [path, code])
    expect(brief(long)).toEqual([
      ['segments', 'TEXT_TOO_LONG'],
      ['firstComment', 'TEXT_TOO_LONG'],
    ])
    expect(form!.errors.map(({ path }) => path).toSorted()).toEqual([
      'firstComment',
      'onUnsupported',
      'segments_threads',
    ])
    for (const { path, message } of form!.errors) expect(message.startsWith(path)).toBe(true)
    expect(brief(refused)).toEqual([['segments', 'NOT_SUPPORTED']])
    expect(brief(none)).toEqual([['onUnsupported', 'LEFT_OUT']])
    expect(some).toMatchObject({ status: 'warning', errors: [] })
  })

  it('problems of options name their cells, and unknown options are refused in both formats', async () => {
    const { client } = await newUser()
    const toCell = (options: object) => `"${JSON.stringify(options).replaceAll('"', '""')}"`
    const poll = { options: ['Yes'], expiresIn: 300 }
    const { body } = await client.sendCsv(
      [
        'text,platforms,options,options_mastodon',
        `a,mastodon,${toCell({ mastodon: { poll } })},`,
        `b,mastodon,,${toCell({ mastodon: { visibilty: 'public' } })}`,
        `c,mastodon,${toCell({ facebook: {} })},${toCell({ mastodon: { visibility: 'secret' } })}`,
        '',
      ].join('\n'),
    )
    const rows = await client.rows(body.data.id)
    expect(rows.map(({ errors }) => errors.map(({ path, code }) => [path, code]))).toEqual([
      [['options', 'POLL_OPTIONS']],
      [['options_mastodon', 'UNKNOWN_FIELD']],
      [['options', 'UNKNOWN_FIELD']],
    ])
    expect(rows[1]!.errors[0]!.message).toContain('Did you mean visibility?')
    const row = { content: { text: 'a', options: { tumblr: { tag: ['a'] } } }, selectedPlatforms: ['tumblr'] }
    const { body: json } = await client.sendJson([row])
    expect(await client.rows(json.data.id)).toMatchObject([
      { status: 'error', errors: [{ path: 'content.options.tumblr.tag', code: 'UNKNOWN_FIELD' }] },
    ])
  })

  it('unknown columns are warned before anything is published, and refused for API keys and strict requests', async () => {
    const { client, who } = await newUser()
    const file = `text,platforms,scheduleAt,notes\na,bluesky,${at(0)},\nb,bluesky,,\n`
    const { body } = await client.sendCsv(file, '?gapMinutes=0')
    expect(await client.rows(body.data.id)).toMatchObject([
      {
        status: 'warning',
        warnings: [{ path: 'scheduleAt', code: 'UNKNOWN_FIELD', message: expect.stringContaining('scheduledAt?') }],
      },
      { status: 'ready', warnings: [] },
    ])
    const key = importClient(world.app, await createTestKey(world.context, who, { scopes: ['posts:draft'] }))
    const strict = importClient(world.app, { headers: { ...who.headers, prefer: 'handling=strict' } })
    for (const caller of [key, strict]) {
      expect(await caller.sendCsv(file)).toMatchObject({
        status: 400,
        body: {
          errors: [
            { path: 'scheduleAt', code: 'UNKNOWN_FIELD' },
            { path: 'notes', code: 'UNKNOWN_FIELD' },
          ],
        },
      })
    }
  })
})

it('fields of JSON rows and cells that are not known are warned, and errors of the row for strict requests', async () => {
  const { client, who } = await newUser()
  const rows = [scheduled('a', 0, { scheduleAt: at(1) }), scheduled('b', 30)]
  const [unknown, known] = await client.rows((await client.sendJson(rows)).body.data.id)
  expect(unknown).toMatchObject({
    status: 'warning',
    warnings: [{ path: 'scheduleAt', code: 'UNKNOWN_FIELD', message: expect.stringContaining('scheduledAt?') }],
  })
  expect(known).toMatchObject({ status: 'ready', warnings: [] })
  const strict = importClient(world.app, { headers: { ...who.headers, prefer: 'handling=strict' } })
  expect(await strict.rows((await strict.sendJson(rows)).body.data.id)).toMatchObject([
    { status: 'error', post: null, errors: [{ path: 'scheduleAt', code: 'UNKNOWN_FIELD' }] },
    { status: 'ready' },
  ])
  const cell = JSON.stringify({ ['a'.repeat(24)]: { txt: 'x' } }).replaceAll('"', '""')
  const { body } = await client.sendCsv(`text,platforms,accountContent\na,bluesky,"${cell}"\n`)
  expect((await client.rows(body.data.id))[0]!.warnings).toContainEqual(
    expect.objectContaining({ path: 'accountContent', code: 'UNKNOWN_FIELD' }),
  )
})

it('users whose files arrive slowly do not keep others from planning', async () => {
  const url = `${await listen()}/api/imports`
  const slow = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { who, client } = await newUser()
      const headers = { 'content-type': 'application/json', 'content-length': 1_000, expect: '100-continue' }
      const request = httpRequest(url, { method: 'POST', headers: { ...who.headers, ...headers } })
      request.on('error', () => {}).flushHeaders()
      await once(request, 'continue')
      request.write('[')
      return { request, client }
    }),
  )
  const { client: other } = await newUser()
  expect((await other.sendJson([scheduled('Meanwhile', 0)])).status).toBe(201)
  for (const { client } of slow) expect((await client.sendJson([])).status).toBe(429)
  for (const { request } of slow) request.destroy()
})

describe('applying an import', () => {
  const planned = async (client: ReturnType<typeof importClient>, rows: object[], query = '?gapMinutes=5') =>
    (await client.sendJson(rows, query)).body.data.id as string
  const apply = (client: ReturnType<typeof importClient>, id: string, options: object = {}) =>
    client.call('POST', `/api/imports/${id}/apply`, options)

  it('a batch ends when its rows have taken too long, and the next one continues after them', async () => {
    const { client, userId } = await newUser()
    const rows = Array.from({ length: 12 }, (_, index) => scheduled(`Post ${index}`, index * 10))
    const id = await planned(client, rows)
    await apply(client, id)
    let calls = 0
    // Every row takes minutes.
    const clock = { ...world.context.clock, now: () => new Date(Date.now() + ++calls * MINUTE) }
    expect(await applyRows({ ...world.context, clock }, userId, id)).toBe(true)
    expect(await postsOf(userId)).toHaveLength(5)
    await applyAll(world.context, userId, id)
    expect(await postsOf(userId)).toHaveLength(12)
  })

  it('each row creates its post once, however often it is applied', async () => {
    const { client, userId } = await newUser()
    const id = await planned(
      client,
      Array.from({ length: 60 }, (_, index) => scheduled(`Post ${index}`, index * 10)),
    )
    expect(await apply(client, id)).toMatchObject({ status: 202, body: { data: { state: 'applying' } } })
    expect((await apply(client, id, { skipErrors: true })).status).toBe(202)
    await Promise.all([applyAll(world.context, userId, id), applyAll(world.context, userId, id)])
    await applyAll(world.context, userId, id)
    expect(await client.read(id)).toMatchObject({ state: 'completed', counts: { created: 60, ready: 0 } })
    const posts = await postsOf(userId)
    expect(new Set(posts.map(({ content }) => content.text)).size).toBe(60)
    expect(posts).toHaveLength(60)
    expect(posts[0]!.metadata).toEqual({ source: 'api', client: 'import' })
    expect((await world.context.users.findById(userId))!.usage.postsCreated).toBe(60)
    const rows = await client.rows(id)
    expect(new Set(rows.map(({ postId }) => postId))).toEqual(new Set(posts.map(({ _id }) => _id)))
    expect(rows.every(({ post }) => post === null)).toBe(true)
    expect((await apply(client, id)).body.data.state).toBe('completed')
  })

  it('a row for a group is published on the accounts that the group had when the import was planned', async () => {
    const { client, userId } = await newUser()
    const further = await addAccount(world.context, userId, { platform: 'bluesky', platformId: `group-${userId}` })
    const group = { name: 'Smith, Jones', accountIds: [further._id] }
    const { id: groupId } = (await client.call('POST', '/api/groups', group)).body.data
    await client.call('POST', '/api/groups', { name: 'Empty' })
    const file = `text,groups,status\nFor a group,"smith, jones",DRAFT\nFor none,Unknown,\nFor nothing,Empty;${groupId},\n`
    const { body } = await client.sendCsv(file)
    const rows = await client.rows(body.data.id)
    expect(rows.map(({ errors }) => errors)).toMatchObject([
      [],
      [{ path: 'groups', code: 'GROUP_NOT_FOUND' }],
      [{ path: 'groups', code: 'GROUP_EMPTY' }],
    ])
    await client.call('PATCH', `/api/groups/${groupId}`, { name: 'Renamed', accountIds: [] })
    expect((await apply(client, body.data.id, { skipErrors: true })).status).toBe(202)
    await applyAll(world.context, userId, body.data.id)
    const [post] = await postsOf(userId)
    expect(post!.platformStatuses).toMatchObject([{ target: further._id }])
    expect(post!.groups).toEqual([{ id: groupId, name: 'Smith, Jones', accountIds: [further._id] }])
  })

  it('a result that was not recorded creates no second post', async () => {
    const { client, userId } = await newUser(limits(3))
    const id = await planned(client, [scheduled('a', 0), scheduled('b', 60), scheduled('c', 120)])
    await apply(client, id)
    const imports = { ...world.context.imports, recordResults: () => Promise.reject(new Error('killed here')) }
    await expect(applyRows({ ...world.context, imports }, userId, id)).rejects.toThrow('killed here')
    expect(await postsOf(userId)).toHaveLength(3)
    // The allowance is used up by now.
    await applyAll(world.context, userId, id)
    expect(await client.read(id)).toMatchObject({ state: 'completed', counts: { created: 3 } })
    expect(await postsOf(userId)).toHaveLength(3)
  })

  it('rows with errors and conflicts are left out on request', async () => {
    const { client, userId } = await newUser()
    const rows = [scheduled('a', 0), scheduled('b', 1), row(''), scheduled('c', 60)]
    const first = await planned(client, rows)
    expect(await apply(client, first)).toMatchObject({ status: 409, body: { code: 'IMPORT_HAS_ERRORS' } })
    await apply(client, first, { skipErrors: true, skipConflicts: true })
    await applyAll(world.context, userId, first)
    expect(await client.read(first)).toMatchObject({ counts: { created: 2, skipped: 2 } })
    expect((await postsOf(userId)).map(({ content }) => content.text).toSorted()).toEqual(['a', 'c'])
    const second = await planned(client, [scheduled('d', 200), scheduled('e', 201)])
    await apply(client, second)
    await applyAll(world.context, userId, second)
    expect(await client.read(second)).toMatchObject({ counts: { created: 2 } })
  })

  it('an import is paused when the allowance is used up, and continues after an upgrade', async () => {
    const { client, userId } = await newUser(limits(2))
    const id = await planned(
      client,
      Array.from({ length: 30 }, (_, index) => scheduled(`Post ${index}`, index * 10)),
    )
    await apply(client, id)
    await applyAll(world.context, userId, id)
    expect(await client.read(id)).toMatchObject({
      state: 'paused',
      pausedBecause: 'POST_LIMIT_REACHED',
      counts: { created: 2, ready: 28 },
    })
    await world.context.database.connection
      .collection<{ _id: string }>('users')
      .updateOne({ _id: userId }, { $set: { 'limits.maxPosts': 100 } })
    expect((await client.call('POST', `/api/imports/${id}/resume`)).body.data).toMatchObject({ state: 'applying' })
    await applyAll(world.context, userId, id)
    expect(await client.read(id)).toMatchObject({ state: 'completed', pausedBecause: null, counts: { created: 30 } })
    expect(await postsOf(userId)).toHaveLength(30)
  })

  it('a paused, cancelled or deleted import creates nothing more', async () => {
    const { client, userId } = await newUser()
    const id = await planned(
      client,
      Array.from({ length: 60 }, (_, index) => scheduled(`Post ${index}`, index * 10)),
    )
    await apply(client, id)
    await applyRows(world.context, userId, id)
    expect((await client.call('POST', `/api/imports/${id}/pause`)).body.data.state).toBe('paused')
    expect(await applyRows(world.context, userId, id)).toBe(false)
    expect(await postsOf(userId)).toHaveLength(25)
    await client.call('POST', `/api/imports/${id}/resume`)
    await applyRows(world.context, userId, id)
    expect((await client.call('POST', `/api/imports/${id}/cancel`)).body.data.state).toBe('cancelled')
    await applyAll(world.context, userId, id)
    expect(await postsOf(userId)).toHaveLength(50)
    expect(await client.call('POST', `/api/imports/${id}/resume`)).toMatchObject({
      status: 409,
      body: { code: 'IMPORT_STATE' },
    })
    await client.call('DELETE', `/api/imports/${id}`)
    expect((await client.call('GET', `/api/imports/${id}`)).status).toBe(404)
    expect((await client.call('DELETE', `/api/imports/${id}`)).status).toBe(404)
    expect(await postsOf(userId)).toHaveLength(50)
  })

  it('a time that passes before the import is applied fails its row, and publishes nothing', async () => {
    const { client, userId } = await newUser()
    const id = await planned(client, [scheduled('a', 0), scheduled('b', 4 * 1_440)])
    await apply(client, id)
    const clock = { ...world.context.clock, now: () => new Date(Date.now() + 2 * DAY) }
    while (await applyRows({ ...world.context, clock }, userId, id));
    const rows = await client.rows(id)
    expect(rows).toMatchObject([{ status: 'failed', errors: [{ code: 'SCHEDULED_IN_PAST' }] }, { status: 'created' }])
    expect(await postsOf(userId)).toMatchObject([{ content: { text: 'b' } }])
  })

  it('a disabled account creates nothing', async () => {
    const { client, userId } = await newUser()
    const id = await planned(client, [scheduled('a', 0)])
    await apply(client, id)
    await world.context.database.connection
      .collection<{ _id: string }>('users')
      .updateOne({ _id: userId }, { $set: { isDisabled: true } })
    await applyAll(world.context, userId, id)
    expect(await world.context.imports.findOwned(userId, id)).toMatchObject({
      state: 'paused',
      pausedBecause: 'ACCOUNT_DISABLED',
    })
    expect(await postsOf(userId)).toEqual([])
  })

  it('a key that may only draft applies an import of drafts alone', async () => {
    const { who } = await newUser()
    const key = importClient(world.app, await createTestKey(world.context, who, { scopes: ['posts:draft'] }))
    const drafts = await planned(key, [row('a', { status: 'DRAFT' })])
    expect((await apply(key, drafts)).status).toBe(202)
    const mixed = await planned(key, [row('b', { status: 'DRAFT' }), scheduled('c', 0)])
    expect((await apply(key, mixed)).body).toMatchObject({ code: 'INSUFFICIENT_SCOPE', scope: 'posts:publish' })
    expect(await key.read(mixed)).toMatchObject({ state: 'planned' })
  })

  it('the sweeper finds an import whose start was lost', async () => {
    const { client } = await newUser()
    const id = await planned(client, [scheduled('a', 0)])
    await apply(client, id)
    const backlog = world.context.backlogs.find(({ work }) => work === 'applyImport')!
    const find = async (before: number) => (await backlog.listUnstarted(new Date(before), 100)).map((one) => one.id)
    expect(await find(Date.now() - MINUTE)).not.toContain(id)
    expect(await find(Date.now() + 1)).toContain(id)
  })
})

describe('exporting posts', () => {
  const toComparable = ({ content, selectedPlatforms, selectedAccounts, ...post }: Post) => ({
    ...{ content, selectedPlatforms, selectedAccounts },
    platformSpecificContent: post.platformSpecificContent,
    accountSpecificContent: post.accountSpecificContent,
    scheduledAt: post.scheduledAt,
    timezone: post.timezone,
    status: post.status,
    targets: post.platformStatuses.map(({ platform, target }) => [platform, target]),
  })
  const byText = (posts: Post[]) =>
    posts.map(toComparable).toSorted((one, other) => (one.content.text < other.content.text ? -1 : 1))

  async function storeSamples({ userId, client }: { userId: string; client: ReturnType<typeof importClient> }) {
    const further = await addAccount(world.context, userId, { platform: 'bluesky', platformId: `further-${userId}` })
    const options = { bluesky: { labels: ['nudity'] }, tumblr: { tags: ['a "b"'] } }
    const image = { storageKey: `posts/${userId}/a;b.png`, mimeType: 'image/png', altText: 'A "sun", rising', width: 2 }
    const rows = [
      scheduled('=SUM(1)\r\n"quoted", and; more \u{1f305}', 0, { timezone: 'Europe/Berlin' }),
      scheduled("'+49", 60, { content: { text: "'+49", mediaItems: [image] } }),
      row('Draft', { status: 'DRAFT' }),
      scheduled('With accounts', 120, {
        selectedAccounts: [further._id],
        selectedPlatforms: ['threads'],
        platformSpecificContent: { threads: { text: '@ threads' }, bluesky: { mediaItems: [] } },
        accountSpecificContent: { [further._id]: { text: '-further', mediaItems: [image] } },
      }),
      scheduled('Thread', 240, {
        content: {
          text: 'Thread',
          segments: [{ text: '=two\n\nlines' }, { text: '[3/3]', mediaItems: [image] }],
          firstComment: '-below',
          onUnsupported: 'join',
          options: { bluesky: { languages: ['en'], replyGate: ['mentioned', 'following'] } },
          link: { url: 'https://example.com/a;b', title: '=The "article"', image },
        },
        platformSpecificContent: {
          bluesky: { segments: [{ text: '+2' }, { text: 'Three' }], firstComment: '', options, link: 'none' },
        },
        accountSpecificContent: { [further._id]: { segments: [], onUnsupported: 'skipPlatform', options: {} } },
        selectedAccounts: [further._id],
      }),
      scheduled('Empty override', 180, { platformSpecificContent: { bluesky: { text: '', mediaItems: [image] } } }),
    ]
    const { body } = await client.sendJson(rows)
    expect(body.data.counts).toMatchObject({ error: 0, conflict: 0 })
    await client.call('POST', `/api/imports/${body.data.id}/apply`)
    await applyAll(world.context, userId, body.data.id)
    expect(await client.read(body.data.id)).toMatchObject({ counts: { created: rows.length } })
  }

  it.each(['json', 'csv'])('a %s export creates equal posts after the posts were deleted', async (format) => {
    const user = await newUser()
    const { client, userId } = user
    await storeSamples(user)
    const before = await postsOf(userId)
    const file = await client.export(`?format=${format}`)
    for (const { _id } of before) await client.call('DELETE', `/api/posts/${_id}`)
    const { body } = await (format === 'csv' ? client.sendCsv(file) : client.sendText(file))
    expect(body.data).toMatchObject({
      rows: before.length,
      counts: { error: 0, conflict: 0 },
      posts: { drafts: 1, scheduled: 5, immediate: 0 },
    })
    await client.call('POST', `/api/imports/${body.data.id}/apply`)
    await applyAll(world.context, userId, body.data.id)
    expect(byText(await postsOf(userId))).toEqual(byText(before))
    expect(await client.export(`?format=${format}`)).toHaveLength(file.length)
  })

  it('an import of an export beside its posts finds each of them again', async () => {
    const user = await newUser()
    await storeSamples(user)
    const { body } = await user.client.sendText(await user.client.export())
    expect(body.data.counts).toMatchObject({ conflict: 6, error: 0 })
  })

  it('an export is a plan for another user with accounts on the same platforms', async () => {
    const [one, other] = [await newUser(), await newUser()]
    const { body } = await one.client.sendJson([scheduled('a', 0), row('b', { status: 'DRAFT' })])
    await one.client.call('POST', `/api/imports/${body.data.id}/apply`)
    await applyAll(world.context, one.userId, body.data.id)
    const planned = (await other.client.sendCsv(await one.client.export('?format=csv'))).body.data
    expect(planned).toMatchObject({ counts: body.data.counts, posts: body.data.posts })
    await other.client.call('POST', `/api/imports/${planned.id}/apply`)
    await applyAll(world.context, other.userId, planned.id)
    expect(byText(await postsOf(other.userId))).toEqual(byText(await postsOf(one.userId)))
  })

  it('an export is limited to statuses, platforms, accounts and dates', async () => {
    const user = await newUser()
    await storeSamples(user)
    const drafts = JSON.parse(await user.client.export('?status=DRAFT')) as object[]
    expect(drafts).toMatchObject([{ content: { text: 'Draft' }, status: 'DRAFT' }])
    const bounds = `from=${encodeURIComponent(at(50))}&to=${encodeURIComponent(at(70))}`
    expect(JSON.parse(await user.client.export(`?${bounds}`))).toMatchObject([{ content: { text: "'+49" } }])
    expect(JSON.parse(await user.client.export('?accounts=nobody'))).toEqual([])
    expect(JSON.parse(await user.client.export('?platform=tumblr'))).toEqual([])
    expect(JSON.parse(await user.client.export('?from=yesterday'))).toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  it('spreadsheets get no formulas', async () => {
    const user = await newUser()
    await storeSamples(user)
    const file = await user.client.export('?format=csv')
    expect(file.startsWith('\ufeff')).toBe(true)
    expect(file).toContain(`"'=SUM(1)`)
    // The line between two posts of a thread is none.
    expect(file).not.toMatch(/(^|,)"?[=+@-](?!--$)/m)
  })
})

it('other users see nothing of an import', async () => {
  const { client } = await newUser()
  const { body } = await client.sendJson([row('a', { status: 'DRAFT' })])
  const stranger: SignedIn = await signIn(world.context)
  const other = importClient(world.app, stranger)
  const url = `/api/imports/${body.data.id}`
  for (const [method, path] of [
    ...[['GET', url] as const, ['GET', `${url}/rows`] as const, ['DELETE', url] as const],
    ...['apply', 'pause', 'resume', 'cancel'].map((move) => ['POST', `${url}/${move}`] as const),
  ]) {
    expect(await other.call(method, path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  }
  expect((await other.call('GET', '/api/imports')).body.data).toEqual([])
  expect(await client.read(body.data.id)).toMatchObject({ state: 'planned' })
})
