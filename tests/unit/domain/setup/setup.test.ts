import { expect, it } from 'vitest'
import { ConfigSchema } from '../../../../src/config/schema.ts'
import { describeSetup, findAddressProblem, SETUP_PARTS, SETUP_STATES } from '../../../../src/domain/setup/setup.ts'

it.each(SETUP_PARTS)('%s names existing settings, and has a next step in every state but ready', (part) => {
  const entries = SETUP_STATES.map((state) => describeSetup(part, state))
  for (const { state, effect, nextStep, settings } of entries) {
    expect(settings.every((name) => name in ConfigSchema.properties)).toBe(true)
    expect(effect).toMatch(/\.$/)
    expect(nextStep === null).toBe(state === 'ready')
  }
  expect(new Set(entries.map(({ effect }) => effect)).size).toBe(2)
})

it('the next step names the settings, and differs between a part that is not set up and one that fails', () => {
  expect(describeSetup('mail', 'missing')).toEqual({
    part: 'mail',
    state: 'missing',
    effect: 'Emails wait: users receive no codes for registration and no password resets.',
    problem: null,
    nextStep: 'Set SMTP_URL and MAIL_FROM, and restart the API and the workers.',
    settings: ['SMTP_URL', 'MAIL_FROM'],
  })
  expect(describeSetup('mail', 'failing', 'It does not answer')).toMatchObject({
    problem: 'It does not answer',
    nextStep: 'Check SMTP_URL and MAIL_FROM, and that the server behind them runs.',
  })
})

it.each([
  ['https://post.example.org', null],
  ['http://post.example.org', 'https'],
  ['http://localhost:4000', 'own machine'],
  ['https://127.0.0.1', 'own machine'],
  ['http://[::1]:3000', 'own machine'],
])('the problem of the address %s is %s', (address, problem) => {
  const found = findAddressProblem(address)
  if (problem === null) expect(found).toBeNull()
  else expect(found).toContain(problem)
})
