import { describe, expect, it } from 'vitest'
import { avatarKey, isOwnMediaKey, mediaKey, parseAvatarType } from '../../../../src/domain/media/storage-keys.ts'

describe('isOwnMediaKey', () => {
  it('isOwnMediaKey accepts keys of this service', () => {
    expect(mediaKey('u1', 'abc', 'image/jpg')).toBe('posts/u1/abc.jpg')
    expect(isOwnMediaKey('u1', mediaKey('u1', 'abc', 'video/quicktime'))).toBe(true)
  })

  it.each([
    ['a foreign prefix', 'posts/u2/a.png'],
    ['a longer user id', 'posts/u11/a.png'],
    ['another folder', 'avatars/u1/a.png'],
    ['a leading slash', '/posts/u1/a.png'],
    ['the bare prefix', 'posts/u1/'],
    ['an empty segment', 'posts/u1//a.png'],
    ['a dot segment', 'posts/u1/./a.png'],
    ['a parent segment', 'posts/u1/../u2/a.png'],
    ['an encoded parent segment', 'posts/u1/%2e%2E/u2/a.png'],
    ['a half encoded parent segment', 'posts/u1/.%2e/u2/a.png'],
    ['an encoded slash', 'posts/u1/..%2fu2%2fa.png'],
    ['a twice encoded parent segment', 'posts/u1/%252e%252e/u2/a.png'],
    ['a five times encoded parent segment', 'posts/u1/%25252525252e./u2/a.png'],
    ['a backslash', 'posts/u1/..\\u2\\a.png'],
    ['an encoded backslash', 'posts/u1/..%5cu2'],
    ['a NUL', 'posts/u1/a\0.png'],
    ['an encoded NUL', 'posts/u1/a%00.png'],
    ['a line break', 'posts/u1/a\n.png'],
    ['a broken escape', 'posts/u1/a%zz.png'],
    ['more than 1,024 bytes', `posts/u1/${'é'.repeat(508)}`],
  ])('isOwnMediaKey rejects %s', (_, key) => expect(isOwnMediaKey('u1', key)).toBe(false))

  it.each([
    ['a%41.png', true],
    ['a%2541.png', true],
    ['a%252541.png', true],
    ['a%25252541.png', false],
  ])('isOwnMediaKey of the name %s, which is decoded layer by layer, is %s', (name, isAccepted) => {
    expect(isOwnMediaKey('u1', `posts/u1/${name}`)).toBe(isAccepted)
  })

  it('the maximal key length counts bytes', () => {
    expect(isOwnMediaKey('u1', `posts/u1/${'é'.repeat(507)}`)).toBe(true)
  })
})

describe('parseAvatarType', () => {
  const [owner, other] = ['a'.repeat(24), 'b'.repeat(24)]
  const uuid = '01234567-89ab-cdef-0123-456789abcdef'

  it.each(['image/png', 'image/jpeg', 'image/webp'] as const)(
    'parseAvatarType finds %s in a key of its owner',
    (type) => {
      expect(parseAvatarType(owner, avatarKey(owner, uuid, type))).toBe(type)
    },
  )

  it.each([
    ['of another user', avatarKey(other, uuid, 'image/png')],
    ['without a UUID', `avatars/${owner}/picture.png`],
    ['with another extension', `avatars/${owner}/${uuid}.gif`],
    ['with a path below', `avatars/${owner}/${uuid}.png/x`],
  ])('parseAvatarType rejects a key %s', (_, key) => {
    expect(parseAvatarType(owner, key)).toBeNull()
  })
})
