import { Option } from 'commander'
import { CliError, EXIT } from './exit-codes.ts'

const DEFAULT_LIMIT = 20

/** The description of what takes `<account>`: `addCommands` replaces the name by the id. */
export const ACCOUNT = 'label, handle or id of an account'

/** The description of a group. The API finds its name among the groups of the user. */
export const GROUP = 'name or id of a group'

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

/** The option of a list that is printed in part. */
export function limitOption(what: string): Option {
  return new Option('--limit <number>', `most ${what} to print`).default(DEFAULT_LIMIT).argParser(parseCount)
}

/** Returns the first items, at most so many. */
export async function take<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const taken: T[] = []
  if (most === 0) return taken
  for await (const item of items) if (taken.push(item) >= most) break
  return taken
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Returns the fields that have a value. */
export function withoutUndefined<T extends object>(fields: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
}

/** Returns the values of a type of the API. A list that lacks one does not compile. */
export function listValues<T extends string>(values: Record<T, true>): T[] {
  return Object.keys(values) as T[]
}
