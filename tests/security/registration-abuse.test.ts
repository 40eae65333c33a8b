import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../support/api.ts'
import { codeFor, startUnsentMails, type UnsentMails } from '../support/unsent-mails.ts'

let world: UnsentMails
beforeAll(async () => {
  world = await startUnsentMails({ OTP_PER_HOUR: 2, RESET_MAILS_PER_HOUR: 2, MAILS_PER_SENDER_PER_HOUR: 20 })
})
afterAll(() => world?.close())

let networks = 0
/** Returns an IPv6 network that no other test uses. */
const newNetwork = () => `2001:db8:99:${(networks += 1).toString(16)}::1`

const requestCode = (email: string, from: string) => world.post('request-otp', { email }, {}, from)
const verify = (email: string, otp: string, from: string) => world.post('verify-otp', { email, otp }, {}, from)
const requestReset = (email: string, from: string) => world.post('send-reset-email', { email }, {}, from)
const wrongFor = (code: string, distance = 1) => String((Number(code) + distance) % 1_000_000).padStart(6, '0')

/** Requests codes from many networks and makes five wrong guesses from each. */
async function flood(email: string, senders: number): Promise<void> {
  for (let count = 0; count < senders; count += 1) {
    const from = newNetwork()
    await requestCode(email, from)
    for (let tries = 0; tries < 5; tries += 1) await verify(email, '000000', from)
  }
}

describe('the owner of an address', () => {
  it('the owner can register although an attacker used up codes and guesses', async () => {
    const [email, owner, stranger] = [world.newAddress(), newNetwork(), newNetwork()]
    for (let count = 0; count < 3; count += 1) await requestCode(email, stranger)
    for (let tries = 0; tries < 12; tries += 1) await verify(email, '000000', stranger)
    expect((await requestCode(email, owner)).statusCode).toBe(201)
    const code = await codeFor(world, email)
    for (let tries = 0; tries < 12; tries += 1) await verify(email, wrongFor(code), stranger)
    await requestCode(email, newNetwork())
    expect((await verify(email, code, owner)).statusCode).toBe(200)
  })

  it('the owner can register while attackers on many networks guess, and gets a bounded number of mails', async () => {
    const [email, owner] = [world.newAddress(), newNetwork()]
    await flood(email, 20)
    expect((await requestCode(email, owner)).statusCode).toBe(201)
    expect((await world.mailsTo(email)).length).toBeLessThanOrEqual(11)
    expect((await verify(email, await codeFor(world, email), owner)).statusCode).toBe(200)
  })

  it('the owner can set a new password while attackers on many networks request links', async () => {
    const { email } = await createAccount(world.context)
    const owner = newNetwork()
    await requestReset(email, owner)
    const [mail] = await world.mailsTo(email)
    for (let count = 0; count < 20; count += 1) await requestReset(email, newNetwork())
    expect((await requestReset(email, owner)).statusCode).toBe(200)
    expect((await world.mailsTo(email)).length).toBeLessThanOrEqual(11)
    const link = new URL(/^http\S+reset-password\S+$/m.exec(mail!.text)![0])
    const body = { email, token: link.searchParams.get('token'), password: 'another horse, another staple' }
    expect((await world.post('reset-password', body)).statusCode).toBe(200)
  })
})

describe('an attacker', () => {
  it('an attacker has five tries on a code that others requested, from all networks together', async () => {
    const [email, owner] = [world.newAddress(), newNetwork()]
    await requestCode(email, owner)
    const code = await codeFor(world, email)
    for (let tries = 1; tries <= 5; tries += 1) await verify(email, wrongFor(code, tries), newNetwork())
    expect((await verify(email, code, newNetwork())).statusCode).toBe(400)
    expect((await verify(email, code, owner)).statusCode).toBe(200)
  })

  it('an attacker has a bounded number of guesses per address from any number of networks', async () => {
    const email = world.newAddress()
    await flood(email, 60)
    const { codes } = (await world.context.database.connection
      .collection<{ _id: string; codes: { senders: unknown[] }[] }>('addressCodes')
      .findOne({ _id: world.context.oneTimeCodes.addressKey(email) }))!
    const tries = codes.reduce((sum, { senders }) => sum + 5 * senders.length + 5, 0)
    expect(tries).toBeLessThanOrEqual(11 * 10 + 9 * 5)
  })

  it('an attacker can trigger mails to twenty addresses per hour, codes and links together', async () => {
    const from = newNetwork()
    const statuses: number[] = []
    for (let count = 0; count < 15; count += 1) {
      statuses.push((await requestCode(world.newAddress(), from)).statusCode)
      statuses.push((await requestReset(world.newAddress(), from)).statusCode)
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    expect((await requestCode(world.newAddress(), newNetwork())).statusCode).toBe(201)
  })
})
