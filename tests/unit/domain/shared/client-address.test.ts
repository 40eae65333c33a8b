import { describe, expect, it } from 'vitest'
import { normalizeAddress, toCoarseNetwork, toNetwork } from '../../../../src/domain/shared/client-address.ts'

describe('normalizeAddress', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:CB00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['2001:DB8::A', '2001:db8::a'],
    ['2001:0db8:0000:0000:0000:0000:0000:000a', '2001:db8::a'],
    ['[2001:db8::a]', '2001:db8::a'],
    ['[2001:db8::a]:8080', '2001:db8::a'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:80', 'fe80::1'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::ffff:203.0.113.7', '1::ffff:cb00:7107'],
    ['::1:ffff:203.0.113.7', '::1:ffff:cb00:7107'],
    ['::fffe:203.0.113.7', '::fffe:cb00:7107'],
    ['255.255.255.255', '255.255.255.255'],
    ['[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff%25averylonginterface]:65535', '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff'],
  ])('normalizeAddress converts %s to %s', (text, normalized) => expect(normalizeAddress(text)).toBe(normalized))

  it.each([
    '',
    'unknown',
    '_hidden',
    'example.org',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.7.8',
    '203.0.113.7.',
    '0x7f.0.0.1',
    '1',
    ':::',
    '2001:db8::1::2',
    '2001:db8',
    '12345::',
    '[2001:db8::1',
    `2001:db8::${'0'.repeat(200)}1`,
    '::1/64',
    ' '.repeat(100) + '203.0.113.7',
    '::1]@evil.example/[::1',
  ])('normalizeAddress returns null for %j', (text) => expect(normalizeAddress(text)).toBeNull())
})

describe('toNetwork', () => {
  it('all addresses of an IPv6 /64 share one key, and other networks have their own', () => {
    const ofOne = [
      '2001:db8:1:2::1',
      '2001:DB8:1:2:ffff:ffff:ffff:ffff',
      '[2001:db8:1:2:a::]:443',
      '2001:db8:1:2::%en0',
    ]
    expect(new Set(ofOne.map(toNetwork))).toEqual(new Set(['2001:db8:1:2::/64']))
    expect(toNetwork('2001:db8:1:3::1')).not.toBe(toNetwork('2001:db8:1:2::1'))
    expect(toNetwork('::1')).toBe('0:0:0:0::/64')
  })

  it('an IPv4 client has one key whatever protocol its socket reports', () => {
    expect(['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '192.0.2.1:99'].map(toNetwork)).toEqual(
      Array.from({ length: 4 }, () => '192.0.2.1'),
    )
  })
})

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['unknown', null],
])('the network of %s is stored as %s', (address, network) => {
  expect(toCoarseNetwork(address)).toBe(network)
})
