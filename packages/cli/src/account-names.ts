import type { components } from '@postonce/sdk'
import { CliError, EXIT } from './exit-codes.ts'

type Account = components['schemas']['Account']

const ID = /^[\da-f]{24}$/

/**
 * Creates a function that returns the id of the account with a label or handle, in any letter case, also behind its platform
 * (`bluesky:ann.example`). It returns an id as it is, because a filter may name an account that is no longer connected.
 * @param list is called once, when the first name is no id
 * @throws CliError when no account or several accounts have the name
 */
export function createAccountFinder(list: () => Promise<Account[]>): (name: string) => Promise<string> {
  let listed: Promise<Account[]> | undefined
  return async (name) => {
    if (ID.test(name)) return name
    const found = (await (listed ??= list())).filter((account) => listNames(account).includes(normalize(name)))
    const [account] = found
    if (account === undefined) {
      throw new CliError(`No connected account is called "${name}". "postonce accounts" lists them.`, EXIT.usage)
    }
    if (found.length === 1) return account._id
    const choices = found.map(({ _id, platform, profile }) => `\n  ${platform}:${profile.handle} or ${_id}`)
    throw new CliError(`Several accounts are called "${name}". Name the account as${choices.join('')}`, EXIT.usage)
  }
}

function listNames({ platform, label, profile }: Account): string[] {
  return [label, profile.handle]
    .flatMap((name) => (name === null ? [] : [name, `${platform}:${name}`]))
    .map((name) => normalize(name))
}

/** Handles are written with and without "@". */
function normalize(name: string): string {
  return name
    .normalize()
    .toLowerCase()
    .replace(/^(\w+:)?@/, '$1')
}
