import { sealSecrets } from '../src/commands/accounts/account-secrets.ts'
import type { Context } from '../src/context.ts'
import type { SubscriptionPlan } from '../src/domain/billing/subscription.ts'
import { newUser, type User } from '../src/domain/users/user.ts'
import { newId } from '../src/store/shared/schema.ts'
import { INSTANT_PLATFORMS } from './platforms.ts'
import { openTestSession } from '../tests/support/sessions.ts'

/** Creates users with every instant platform connected and practically unlimited allowances; on the Free plan by default. */
export function createUsers(
  context: Context,
  count: number,
  toPlan: (index: number) => SubscriptionPlan = () => 'free',
): Promise<User[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => createUser(context, toPlan(index))))
}

/** Creates a logged-in user without connections or posts. */
export async function signUp(context: Context): Promise<{ userId: string; token: string }> {
  const user = await insertUser(context, 'free')
  const { accessToken } = await openTestSession(context, user)
  return { userId: user._id, token: accessToken }
}

async function insertUser(context: Context, plan: SubscriptionPlan): Promise<User> {
  const _id = newId()
  const limits = { maxPosts: 1_000_000_000, maxCaptionGenerations: 0 }
  const account = { _id, email: `${_id}@example.com`, name: 'Bench', passwordHash: null, limits }
  const free = newUser(account, new Date())
  const user = { ...free, subscription: { ...free.subscription, plan } }
  await context.users.insert(user)
  return user
}

async function createUser(context: Context, plan: SubscriptionPlan): Promise<User> {
  const user = await insertUser(context, plan)
  const { _id: userId } = user
  for (const platform of INSTANT_PLATFORMS) {
    const accountId = `${platform}-${userId}`
    const seal = (version: number) => ({
      platformId: accountId,
      handle: accountId,
      server: null,
      profile: { displayName: 'Bench', handle: accountId, avatar: null },
      auth: sealSecrets(
        context.cipher,
        { userId, platform, version },
        { accountId, handle: accountId, accessToken: 'bench' },
      ),
    })
    await context.accounts.connect(userId, { platform, seal }, { replace: true, limit: Infinity })
  }
  return user
}
