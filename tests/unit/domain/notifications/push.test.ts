import { expect, it } from 'vitest'
import { toPushMessage } from '../../../../src/domain/notifications/push.ts'
import { DAY } from '../../../../src/domain/shared/times.ts'
import { after, T0 } from '../../../support/posts.ts'

const SOURCE = {
  _id: 'notification-1',
  message: 'Successfully posted on bluesky',
  type: 'success' as const,
  reference: { type: 'post', id: 'post-1' },
  createdAt: T0,
}
const address = (length: number) => 'https://a.example/'.padEnd(length, 'x')

it('a push message has the text, the references and the lifetime of its notification', () => {
  const options = { image: address(1_000), link: address(1_000) }
  expect(toPushMessage({ ...SOURCE, options })).toEqual({
    title: 'Update',
    body: 'Successfully posted on bluesky',
    image: options.image,
    data: {
      notificationId: 'notification-1',
      type: 'success',
      referenceType: 'post',
      referenceId: 'post-1',
      link: options.link,
    },
    collapseKey: 'notification-1',
    expiresAt: after(T0, DAY),
  })
})

it.each([{}, { image: address(1_001), link: address(1_001) }])(
  'a push message leaves out missing addresses and those of more than 1,000 characters',
  (options) => {
    const message = toPushMessage({ ...SOURCE, options })
    expect(message).not.toHaveProperty('image')
    expect(message.data.link).toBe('')
  },
)

it.each([
  // It also announces posts that are only scheduled.
  ['success', 'Update'],
  ['error', 'Something went wrong'],
  ['warning', 'Action needed'],
  ['info', 'For your information'],
] as const)('the title of a push message of the type %s is %j', (type, title) => {
  expect(toPushMessage({ ...SOURCE, type, options: {} }).title).toBe(title)
})
