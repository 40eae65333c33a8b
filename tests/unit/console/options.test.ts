import { expect, it } from 'vitest'
import {
  listLanguages,
  listPollTimes,
  toReplyGate,
  withOptions,
} from '../../../packages/console/src/pages/compose/options.ts'

it('an option without a value leaves nothing of itself and of its platform', () => {
  const options = withOptions({ tumblr: { tags: ['sea'] } }, 'mastodon', { spoilerText: 'Boats', sensitive: true })
  expect(options).toEqual({ tumblr: { tags: ['sea'] }, mastodon: { spoilerText: 'Boats', sensitive: true } })
  expect(withOptions(options, 'mastodon', { sensitive: undefined }).mastodon).toEqual({ spoilerText: 'Boats' })
  expect(withOptions(options, 'tumblr', { tags: [] })).toEqual({ mastodon: options.mastodon })
})

it('no one and the groups that can reply exclude each other', () => {
  expect(toReplyGate(['followers', 'none'])).toEqual(['none'])
  expect(toReplyGate(['none', 'followers'])).toEqual(['followers'])
  expect(toReplyGate(['mentioned', 'followers'])).toEqual(['mentioned', 'followers'])
  expect(toReplyGate([])).toEqual([])
})

it('a language and a time that another program chose can stay chosen', () => {
  expect(listLanguages(['gsw']).map(({ value }) => value)).toContain('gsw')
  expect(listPollTimes(7_200)).toContainEqual({ value: '7200', label: '7200 seconds' })
})
