import { trimFullStop } from './text.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns the first `count` characters of a text as people count them (graphemes). */
export function takeCharacters(text: string, count: number): string {
  let taken = 0
  for (const { index } of segmenter.segment(text)) {
    if (taken === count) return text.slice(0, index)
    taken += 1
  }
  return text
}

/**
 * Returns the longest prefix of a text that fits after `wrap`. A cut text ends with an ellipsis in place of its full stop and white
 * space. Never splits a grapheme.
 */
export function cutToFit(
  text: string,
  fits: (text: string) => boolean,
  wrap: (text: string) => string = (cut) => cut,
): string {
  const whole = wrap(text)
  if (fits(whole)) return whole
  const starts = Array.from(segmenter.segment(text), ({ index }) => index)
  const cutTo = (length: number) => wrap(`${trimFullStop(text.slice(0, starts[length]))}…`)
  let [least, most] = [0, starts.length - 1]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(cutTo(middle))) least = middle
    else most = middle - 1
  }
  return cutTo(least)
}
