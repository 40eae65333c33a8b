import { Option } from 'commander'
import { CliError, EXIT } from './exit-codes.ts'

/** An option that can be repeated. It takes one value at a time, so that it does not swallow the arguments behind it. */
export function repeatedOption(flags: string, description: string): Option {
  return new Option(flags, `${description}; repeat for more`).argParser((value: string, previous?: string[]) => [
    ...(previous ?? []),
    value,
  ])
}

/** An option with a list of known words, separated by commas or repeated. */
export function wordsOption<T extends string>(flags: string, description: string, words: readonly T[]): Option {
  return new Option(flags, `${description}, separated by commas`)
    .choices(words)
    .argParser((value: string, previous?: T[]) => [
      ...new Set([...(previous ?? []), ...parseWords(flags, value, words)]),
    ])
}

function parseWords<T extends string>(flags: string, value: string, words: readonly T[]): T[] {
  return value.split(',').map((name) => {
    const word = words.find((known) => known === name)
    if (word !== undefined) return word
    throw new CliError(`${flags.split(' ')[0]} does not accept "${name}". Choose from ${words.join(', ')}.`, EXIT.usage)
  })
}

export function parseCount(value: string): number {
  if (!/^\d+$/.test(value)) throw new CliError(`"${value}" is not a number.`, EXIT.usage)
  return Number(value)
}

/** Returns the values of a type of the API. A list that lacks one does not compile. */
export function listValues<T extends string>(values: Record<T, true>): T[] {
  return Object.keys(values) as T[]
}
