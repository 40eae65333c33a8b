import { expect, it } from 'vitest'
import { parseTags, toTextBlocks } from '../../../../src/platforms/tumblr/content.ts'

it.each([
  ['#नमस्ते दुनिया', ['नमस्ते']],
  ['สวัสดี #สวัสดี', ['สวัสดี']],
  ['#می\u200cخواهم', ['می\u200cخواهم']],
  ['#ශ්\u200dරී', ['ශ්\u200dරී']],
  ['#e\u0301te\u0301', ['e\u0301te\u0301']],
  ['＃日本、#東京。', ['日本', '東京']],
  ['#2026 #20th a#b &#39; https://a.com/x#y', ['20th']],
])('the tags of %j keep their marks and joiners', (text, tags) => {
  expect(parseTags(text)).toEqual(tags)
})

it('a link of a block covers its address, counted in code points', () => {
  const text = '👍 (https://en.wikipedia.org/wiki/Mercury_(planet)) “https://a.com/x”。'
  const [block] = toTextBlocks(text)
  expect(block!.formatting).toEqual([
    { type: 'link', start: 3, end: 49, url: 'https://en.wikipedia.org/wiki/Mercury_(planet)' },
    { type: 'link', start: 52, end: 67, url: 'https://a.com/x' },
  ])
})

it('an address that is no valid URL stays plain text', () => {
  expect(toTextBlocks('see https://a\u200d.local\u200d/ and http://1.2.3.999/')).toEqual([
    { type: 'text', text: 'see https://a\u200d.local\u200d/ and http://1.2.3.999/' },
  ])
})
