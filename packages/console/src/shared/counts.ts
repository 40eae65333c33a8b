const whole = new Intl.NumberFormat()

/** Such as "1 post" or "1,200 posts", for words whose plural ends with an s. */
export const countOf = (count: number, word: string): string =>
  `${whole.format(count)} ${word}${count === 1 ? '' : 's'}`
