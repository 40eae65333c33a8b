import { expect, it } from 'vitest'
import {
  addressKnownMail,
  codeMail,
  resetElsewhereMail,
  resetMail,
} from '../../../../src/domain/notifications/mail-texts.ts'

it('a code mail has the code and its lifetime in both formats', () => {
  const { subject, text, html } = codeMail('123456')
  expect(subject).toBe('Your code for postonce')
  expect(text).toContain('\n\n123456\n\nThe code is valid for 5 minutes.')
  expect(text.endsWith('\n\n-- \npostonce\n')).toBe(true)
  expect(html).toContain('<b>123456</b></p><p>The code is valid for 5 minutes.')
  expect(html).toContain('<title>Your code for postonce</title>')
})

it('a reset mail has the link, escaped in HTML, and its lifetime', () => {
  const { text, html } = resetMail({ frontendUrl: 'https://app.test/', email: 'a+b@c.test', token: 't&1' })
  const link = 'https://app.test/reset-password?token=t%261&email=a%2Bb%40c.test'
  expect(text).toContain(`Choose a new password:\n${link}`)
  expect(text).toContain('valid for 10 minutes')
  expect(html).toContain(`<a href="${link.replace('&', '&amp;')}">Choose a new password</a>`)
})

it('mails about an existing account link to the login page', () => {
  for (const mail of [addressKnownMail('https://app.test'), resetElsewhereMail('https://app.test')]) {
    expect(mail.text).toContain('https://app.test/login')
    expect(mail.html).toContain('<a href="https://app.test/login">')
  }
})
