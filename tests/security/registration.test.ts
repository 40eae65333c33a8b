import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { PASSWORD } from '../support/api.ts'
import { codeFor, startUnsentMails, type UnsentMails } from '../support/unsent-mails.ts'

let world: UnsentMails
let port: number
beforeAll(async () => {
  world = await startUnsentMails()
  port = Number(new URL(await world.app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => world?.close())

const KIB = 1_024
const NOT_VERIFIED = { message: 'Verify this address with a code first', statusCode: 400, code: 'ADDRESS_NOT_VERIFIED' }

const bodyFor = (email: string) => ({ email, name: 'Ann', password: PASSWORD, confirmPassword: PASSWORD })
const signUp = (email: string, changes: object = {}, headers: Record<string, string> = {}) =>
  world.post('signup', { ...bodyFor(email), ...changes }, headers)

/** An address that its owner has just verified, and the token that only the owner received. */
async function verifiedAddress(): Promise<{ email: string; proof: string }> {
  const email = world.newAddress()
  await world.post('request-otp', { email })
  const response = await world.post('verify-otp', { email, otp: await codeFor(world, email) })
  return { email, proof: response.json().data.verificationToken }
}

describe('a verified address', () => {
  it("a verified address cannot be registered without the owner's token", async () => {
    const { email, proof } = await verifiedAddress()
    const other = await verifiedAddress()
    const unverified = (await signUp(world.newAddress())).json()
    const presented = [undefined, '', 'x'.repeat(43), other.proof, proof.toLowerCase(), proof.slice(1), `${proof}x`]
    for (const token of presented) {
      const attempts = [
        await signUp(email, token === undefined ? {} : { verificationToken: token }),
        await signUp(email, {}, token === undefined ? {} : { 'x-verification-token': token }),
        await signUp(email, {}, token === undefined ? {} : { cookie: `verificationToken=${token}` }),
      ]
      for (const response of attempts) {
        expect(response.json(), token).toMatchObject(NOT_VERIFIED)
        expect(Object.keys(response.json())).toEqual(Object.keys(unverified))
        expect(response.cookies).toEqual([])
      }
    }
    expect((await signUp(email, {}, { 'x-verification-token': proof })).statusCode).toBe(201)
  })

  it.each([
    ['the cookie', (proof: string) => ({ headers: { cookie: `verificationToken=${proof}` } })],
    ['the header', (proof: string) => ({ headers: { 'x-verification-token': proof } })],
    ['the body', (proof: string) => ({ changes: { verificationToken: proof } })],
    [
      'the header beside a stale cookie',
      (proof: string) => ({ headers: { cookie: 'verificationToken=stale', 'x-verification-token': proof } }),
    ],
  ] as [string, (proof: string) => { changes?: object; headers?: Record<string, string> }][])(
    'a verified address is registered once with the token in %s',
    async (_, present) => {
      const { email, proof } = await verifiedAddress()
      const { changes, headers } = present(proof)
      const response = await signUp(email, changes, headers)
      expect(response.statusCode, response.body).toBe(201)
      expect(response.cookies).toContainEqual(expect.objectContaining({ name: 'verificationToken', value: '' }))
      await world.context.database.connection.collection('users').deleteOne({ email })
      expect((await signUp(email, changes, headers)).json()).toMatchObject(NOT_VERIFIED)
    },
  )

  it('a verified address has a single valid token, which ends after 15 minutes or with a newer one', async () => {
    const { email, proof: first } = await verifiedAddress()
    await world.post('request-otp', { email })
    const again = await world.post('verify-otp', { email, otp: await codeFor(world, email) })
    expect((await signUp(email, {}, { 'x-verification-token': first })).json()).toMatchObject(NOT_VERIFIED)
    const { verificationToken } = again.json().data
    await world.later(15 * MINUTE + SECOND, async () =>
      expect((await signUp(email, { verificationToken })).json()).toMatchObject(NOT_VERIFIED),
    )
    expect((await signUp(email, { verificationToken })).statusCode).toBe(201)
  })

  it('an address whose code record has no token hash must be verified again', async () => {
    const { email } = await verifiedAddress()
    const codes = world.context.database.connection.collection<{ _id: string }>('addressCodes')
    await codes.updateOne({ _id: world.context.oneTimeCodes.addressKey(email) }, { $unset: { proofHash: 1 } })
    expect((await signUp(email)).json()).toMatchObject(NOT_VERIFIED)
  })

  it('a page of another site cannot register an address through the cookie', async () => {
    const { email, proof } = await verifiedAddress()
    const cookie = `verificationToken=${proof}`
    expect((await signUp(email, {}, { cookie, origin: 'https://evil.example' })).statusCode).toBe(403)
    expect((await signUp(email, {}, { cookie, origin: 'http://localhost:3000' })).statusCode).toBe(201)
  })
})

describe('a sign-up body above 64 KiB', () => {
  const BODY_BYTES = 8_000 * KIB

  /** Sends the headers and a body that ends with the response; returns the status and the bytes that the server read. */
  async function sendEndlessly(headers: Record<string, string>): Promise<{ status: number; read: number }> {
    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>
    const socket = connect(port, '127.0.0.1')
    const lines = Object.entries({ host: 'x', 'content-type': 'application/json', ...headers })
    socket.on('error', () => undefined)
    socket.write(
      `POST /api/auth/signup HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    const answer = once(socket, 'data') as Promise<[Buffer]>
    let sent = 0
    let isAnswered = false
    void answer.then(() => (isAnswered = true))
    const chunk = ' '.repeat(16 * KIB)
    while (!isAnswered && sent < BODY_BYTES) {
      const framed = headers['transfer-encoding'] ? `${chunk.length.toString(16)}\r\n${chunk}\r\n` : chunk
      const isTaken = socket.write(framed, () => undefined)
      sent += chunk.length
      if (!isTaken) await Promise.race([once(socket, 'drain'), answer])
      else await new Promise((resolve) => setImmediate(resolve))
    }
    const [head] = await answer
    const [atServer] = await accepted
    socket.destroy()
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(String(head))?.[1]), read: atServer.bytesRead }
  }

  it('a large body is refused before it is read when its sender has no verification', async () => {
    const announced = { 'content-length': String(BODY_BYTES) }
    const { email } = await verifiedAddress()
    for (const token of ['', 'x'.repeat(43)]) {
      const { status, read } = await sendEndlessly({ ...announced, 'x-verification-token': token })
      expect([status, read < BODY_BYTES / 4]).toEqual([413, true])
    }
    const inBody = await signUp(email, { avatar: 'x'.repeat(64 * KIB) })
    expect(inBody.statusCode).toBe(413)
  })

  it('a large body without a Content-Length is refused after 64 KiB', async () => {
    const { status, read } = await sendEndlessly({ 'transfer-encoding': 'chunked' })
    expect([status, read < BODY_BYTES / 4]).toEqual([413, true])
  })

  it('a large body is read, one at a time per address, when cookie or header has a verification token', async () => {
    const { email, proof } = await verifiedAddress()
    const avatar = `data:image/png;base64,${'A'.repeat(100 * KIB)}`
    for (const headers of [{ 'x-verification-token': proof }, { cookie: `verificationToken=${proof}` }]) {
      const response = await signUp(email, { avatar }, headers)
      expect(response.json()).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ path: 'avatar' }] })
    }
    const head = `POST /api/auth/signup HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-verification-token: ${proof}\r\n`
    const both = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    for (const socket of both) socket.write(`${head}content-length: ${200 * KIB}\r\n\r\n`)
    // The second request gets a response while the first waits for its body.
    const [answer] = await Promise.race(both.map((socket) => once(socket, 'data') as Promise<[Buffer]>))
    expect(String(answer)).toMatch(/^HTTP\/1\.1 429 /)
    for (const socket of both) socket.destroy()
    await expect
      .poll(async () => (await signUp(email, { avatar }, { 'x-verification-token': proof })).statusCode, {
        timeout: 50_000,
      })
      .toBe(400)
  })
})
