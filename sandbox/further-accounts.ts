import type { Platform } from '../src/domain/shared/platforms.ts'
import type { SecondServer } from './platforms/all.ts'
import type { RunningPlatform, SandboxAccount, UserApi } from './platforms/sandbox-platform.ts'

/** The name of the further accounts on their servers, and the user's own name for them. */
const NAME = 'teaclub'
const LABEL = 'Tea club'

/** An account of the sample user besides the default accounts. */
export interface FurtherAccount {
  /** The URL of its server. */
  server: string
  /** Creates the account on its server if needed, and connects it. */
  connect(api: UserApi): Promise<SandboxAccount>
}

/** Where a further account was connected, and our id of it. */
export interface ConnectedFurther {
  server: string
  accountId: string
}

/** Returns the further accounts of the sample user by their keys in the settings. */
export function listFurtherAccounts(
  platforms: RunningPlatform[],
  second: SecondServer,
): Record<string, FurtherAccount> {
  const bluesky = platforms.find(({ connectFurther }) => connectFurther !== undefined)!
  return {
    bluesky: {
      server: bluesky.fronts.bluesky!.url,
      connect: (api) => bluesky.connectFurther!(NAME, api),
    },
    mastodon: {
      server: second.url,
      connect: (api) => second.connectFurther(NAME, api),
    },
  }
}

/** The part of an account in the API that is used here. */
export interface ListedAccount {
  _id: string
  platform: Platform
  server: string | null
  isDefault: boolean
  profile: { handle: string }
}

export function listAccounts(user: UserApi): Promise<ListedAccount[]> {
  return user.call('GET', '/api/platform/accounts')
}

/**
 * Connects a further account and labels it. Can be repeated.
 * @param earlier the same account on a server that has another URL now; it is disconnected
 */
export async function connectFurtherAccount(
  user: UserApi,
  { server, connect }: FurtherAccount,
  earlier: ConnectedFurther | undefined,
): Promise<ConnectedFurther> {
  const before = await listAccounts(user)
  if (earlier && before.some(({ _id }) => _id === earlier.accountId))
    await user.call('DELETE', `/api/platform/accounts/${earlier.accountId}`)
  const { platform, account } = await connect(user)
  const isIt = (one: ListedAccount) =>
    one.platform === platform && one.server === server && one.profile.handle.split('@')[0] === account
  const { _id: accountId } = (await listAccounts(user)).find(isIt)!
  await user.call('PATCH', `/api/platform/accounts/${accountId}`, { label: LABEL })
  return { server, accountId }
}
