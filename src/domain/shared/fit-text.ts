const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The first characters of a text, as people count them. */
export function takeCharacters(text: string, count: number): string {
  let taken = 0
  for (const { index } of segmenter.segment(text)) {
    if (taken === count) return text.slice(0, index)
    taken += 1
  }
  return text
}

/** The longest beginning of a text that fits as `wrap` puts it, with an ellipsis where something was cut; no character is cut apart. */
export function cutToFit(
  text: string,
  fits: (text: string) => boolean,
  wrap: (text: string) => string = (cut) => cut,
): string {
  const whole = wrap(text)
  if (fits(whole)) return whole
  const starts = Array.from(segmenter.segment(text), ({ index }) => index)
  const cutTo = (length: number) => wrap(`${text.slice(0, starts[length]).trimEnd()}…`)
  let [least, most] = [0, starts.length - 1]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(cutTo(middle))) least = middle
    else most = middle - 1
  }
  return cutTo(least)
}
