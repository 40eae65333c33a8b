import { expect, it } from 'vitest'
import { NOTIFICATION_KINDS } from '../../../../src/domain/users/notification-preferences.ts'
import {
  addressKnownMail,
  codeMail,
  notificationMail,
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

it('a mail about a failed post links to the post and says how to switch such mails off', () => {
  const reference = { type: 'post', id: 'a/b', model: 'Post' }
  const { subject, text, html } = notificationMail('https://app.test/', { kind: 'postFailed', reference })
  expect(subject).toBe('A post could not be published')
  expect(text).toContain('Open the post:\nhttps://app.test/posts/a%2Fb\n')
  expect(html).toContain('<a href="https://app.test/posts/a%2Fb">Open the post</a>')
  expect(text).toContain('You can switch off these mails')
})

it('a mail about a lost login names the platform, and a security mail says that it cannot be switched off', () => {
  const reference = { type: 'platform', id: 'mastodon', model: 'PlatformAccount' }
  const login = notificationMail('https://app.test', { kind: 'accountLogin', reference })
  expect(login.subject).toBe('An account needs a new login (Mastodon)')
  expect(login.text).toContain('Open your notifications:\nhttps://app.test/notifications\n')
  const key = { type: 'apiKey', id: 'x', model: 'ApiKey' }
  expect(notificationMail('https://app.test', { kind: 'security', reference: key }).text).toContain(
    'This mail cannot be switched off.',
  )
})

it('mails about notifications differ for every kind', () => {
  const reference = { type: 'user', id: 'x', model: 'User' }
  const subjects = NOTIFICATION_KINDS.map((kind) => notificationMail('https://app.test', { kind, reference }).subject)
  expect(new Set(subjects).size).toBe(NOTIFICATION_KINDS.length)
})
