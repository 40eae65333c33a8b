import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { mongo } from 'mongoose'
import { openSecrets } from '../../src/commands/accounts/account-secrets.ts'
import type { TokenCipher } from '../../src/security/token-cipher.ts'
import type { ConnectedAccount } from '../../src/store/accounts/accounts.ts'
import type {
  Canary,
  Document,
  Evidence,
  StoredEvent,
  StoredNotification,
  StoredPost,
  StoredUser,
} from './judge/evidence.ts'

type DatabaseEvidence = Pick<Evidence, 'posts' | 'users' | 'notifications' | 'events'> & { document: Document }

/** Reads the judged records of the database, and a dump of all collections as text for the search for secrets. */
export async function readDatabase(db: mongo.Db): Promise<DatabaseEvidence> {
  const all = async <T>(name: string) => (await db.collection(name).find().toArray()) as T[]
  const collections = await db.collections()
  const dump = await Promise.all(collections.map((collection) => collection.find().toArray()))
  return {
    posts: await all<StoredPost>('posts'),
    users: await all<StoredUser>('users'),
    notifications: await all<StoredNotification>('notifications'),
    // The record with sequence 0 counts the others.
    events: (await all<StoredEvent>('events')).filter(({ sequence }) => sequence > 0),
    document: { source: 'the database', text: JSON.stringify(dump) },
  }
}

/** Reads and decrypts the platform tokens that the service stores for these users. */
export async function readTokens(db: mongo.Db, cipher: TokenCipher, userIds: string[]): Promise<Canary[]> {
  const stored = await db
    .collection<ConnectedAccount>('accounts')
    .find({ userId: { $in: userIds }, connected: true })
    .toArray()
  return stored.flatMap((account) => {
    const { accessToken, tokenSecret, refreshToken } = openSecrets(cipher, account)
    return Object.entries({ 'access token': accessToken, 'token secret': tokenSecret, 'refresh token': refreshToken })
      .filter((entry): entry is [string, string] => entry[1] !== undefined)
      .map(([name, value]) => ({ name: `the ${name} of ${account.platform}`, value }))
  })
}

/** Counts the posts whose workflow is still running. */
export async function countRunningPosts(address: string, namespace: string): Promise<number> {
  const connection = await Connection.connect({ address })
  try {
    const query = `WorkflowType = 'publishPost' AND ExecutionStatus = 'Running'`
    return (await new Client({ connection, namespace }).workflow.count(query)).count
  } finally {
    await connection.close()
  }
}

/** Reads the histories of all workflows that started since a time, with their payloads decoded. */
export async function readHistories(address: string, namespace: string, since = new Date(0)): Promise<Document> {
  const connection = await Connection.connect({ address })
  try {
    const { workflow } = new Client({ connection, namespace })
    let text = ''
    for await (const { workflowId, runId } of workflow.list({ query: `StartTime >= '${since.toISOString()}'` })) {
      const history = await workflow.getHandle(workflowId, runId).fetchHistory()
      text += historyToJSON(history).replaceAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g, (_all, data: string) =>
        Buffer.from(data, 'base64').toString(),
      )
    }
    return { source: 'the workflow histories', text }
  } finally {
    await connection.close()
  }
}
