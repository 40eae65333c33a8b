const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The longest beginning of a text that fits as `wrap` puts it, with an ellipsis where something was cut; no character is cut apart. */
export function cutToFit(
  text: string,
  fits: (text: string) => boolean,
  wrap: (text: string) => string = (cut) => cut,
): string {
  const whole = wrap(text)
  if (fits(whole)) return whole
  const characters = [...segmenter.segment(text)].map(({ segment }) => segment)
  const cutTo = (length: number) => wrap(`${characters.slice(0, length).join('').trimEnd()}…`)
  let [least, most] = [0, characters.length - 1]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(cutTo(middle))) least = middle
    else most = middle - 1
  }
  return cutTo(least)
}
