import type { mongo } from 'mongoose'
import { ALL_SHARDS } from '../../src/store/shared/all-shards.ts'
import { toDriverCommand, type DriverCommand } from './driver-commands.ts'

/** The collections that a deployment may shard by user (docs/operations/capacity.md#mongodb). */
export const SHARDED = ['posts', 'notifications', 'events', 'postSnapshots', 'accountSnapshots', 'webhookDeliveries']

type Fields = Record<string, unknown>

/** Checks the commands of a connection against `findShardProblem`. */
export function createShardCheck() {
  const problems = new Set<string>()
  const created = new Set<string>()

  /** A transaction over several shards cannot create a collection. `npm run setup` creates those with a schema. */
  const findMissing = ({ name, collection = '', command }: DriverCommand): string | null =>
    ['insert', 'update', 'findAndModify'].includes(name) && isInTransaction(command) && !created.has(collection)
      ? 'a transaction may create the collection'
      : null

  return {
    onCommand(event: mongo.CommandStartedEvent): void {
      const command = toDriverCommand(event)
      if (command.name === 'create') created.add(command.collection!)
      const problem = findShardProblem(command) ?? findMissing(command)
      if (problem !== null) problems.add(`${problem}: ${JSON.stringify(command.command).slice(0, 400)}`)
    },

    /** @throws with all commands since the last call that a sharded cluster would refuse or send to every shard */
    assertNone(): void {
      const found = [...problems]
      problems.clear()
      if (found.length > 0) throw new Error(['Commands that do not fit shards:', ...found].join('\n'))
    },
  }
}

export type ShardCheck = ReturnType<typeof createShardCheck>

/**
 * Returns why a sharded cluster of MongoDB 6.0 would refuse a command, or why it would ask every shard although the command does not say
 * so; null for a command that is sent to the shards of its users.
 */
export function findShardProblem(command: DriverCommand): string | null {
  const { name, collection = '' } = command
  if (name === 'aggregate') return findPipelineProblem(command)
  if (!SHARDED.includes(collection)) return null
  const check = CHECKS[name]
  return check?.(command) ?? null
}

const NO_USER = 'no user'

const CHECKS: Record<string, (command: DriverCommand) => string | null> = {
  find: ({ command }) => findReadProblem(command, command['filter']),
  // Without a query, the estimated number of all documents: every shard answers from its statistics.
  count: ({ command }) => (command['query'] === undefined ? null : findReadProblem(command, command['query'])),
  distinct: ({ command }) =>
    isInTransaction(command) ? 'distinct in a transaction' : findReadProblem(command, command['query']),
  insert: ({ command }) =>
    firstProblem(command['documents'] as Fields[], ({ userId }) =>
      typeof userId === 'string' ? null : 'a document without a user',
    ),
  update: ({ command }) => firstProblem(command['updates'] as Fields[], (one) => findUpdateProblem(command, one)),
  delete: ({ command }) =>
    firstProblem(command['deletes'] as Fields[], ({ q, limit }) =>
      limit === 1 ? findSingleProblem(q) : findReadProblem(command, q),
    ),
  findAndModify: ({ command }) => findSingleProblem(command['query']) ?? findChangeProblem(command['update'], {}),
  createIndexes: ({ command }) =>
    firstProblem(command['indexes'] as Fields[], ({ key, unique }) =>
      unique === true && !beginsWithUser(key as object) ? 'a unique index that does not begin with the user' : null,
    ),
}

function firstProblem<T>(items: readonly T[], check: (item: T) => string | null): string | null {
  for (const item of items) {
    const problem = check(item)
    if (problem !== null) return problem
  }
  return null
}

/** A unique index of a sharded collection begins with the shard key, or is the one on `_id`. */
export function beginsWithUser(key: object): boolean {
  const [first] = key instanceof Map ? key.keys() : Object.keys(key)
  return first === 'userId'
}

const isInTransaction = (command: Fields): boolean => command['autocommit'] === false
const statesAllShards = (command: Fields): boolean => command['comment'] === ALL_SHARDS.comment

function findReadProblem(command: Fields, filter: unknown): string | null {
  return selectsUsers(filter as Fields) || statesAllShards(command) ? null : NO_USER
}

/** Writes of one document go to one shard. The router of 6.0 refuses them otherwise. */
function findSingleProblem(filter: unknown): string | null {
  return selectsOneUser(filter as Fields) ? null : 'a write of one document without its user'
}

function findUpdateProblem(command: Fields, { q, u, multi, upsert }: Fields): string | null {
  const problem = multi === true && upsert !== true ? findReadProblem(command, q) : findSingleProblem(q)
  return problem ?? findChangeProblem(u, q as Fields)
}

/** A change that moves a document to another user is possible only in a transaction, and never meant. */
function findChangeProblem(update: unknown, filter: Fields): string | null {
  if (update === undefined || Array.isArray(update)) return null
  const change = update as Fields
  const operators = Object.entries(change).filter(([name]) => name.startsWith('$'))
  const isReplacement = operators.length === 0
  if (isReplacement) return change['userId'] === filter['userId'] ? null : 'a replacement with another user'
  const changesUser = operators.some(([, fields]) => Object.hasOwn(fields as Fields, 'userId'))
  return changesUser ? 'a change of the user' : null
}

/** Stages that the router refuses on sharded collections, or that this service has no use for there. */
const REFUSED_STAGES = ['$out', '$merge', '$graphLookup', '$geoNear', '$indexStats', '$planCacheStats']

function findPipelineProblem({ collection, command }: DriverCommand): string | null {
  const stages = command['pipeline'] as Fields[]
  return findStagesProblem(command, collection ?? '', stages)
}

function findStagesProblem(command: Fields, collection: string, stages: Fields[]): string | null {
  const isSharded = SHARDED.includes(collection)
  if (isSharded) {
    const problem = findReadProblem(command, stages[0]?.['$match'] ?? {})
    if (problem !== null) return problem
  }
  return firstProblem(stages, (stage) => {
    const refused = REFUSED_STAGES.find((name) => name in stage)
    if (refused !== undefined && (isSharded || refused !== '$indexStats')) return `the stage ${refused}`
    return findJoinProblem(command, stage)
  })
}

interface Join {
  from?: string
  coll?: string
  pipeline?: Fields[]
}

function findJoinProblem(command: Fields, { $lookup, $unionWith }: Fields): string | null {
  const { from, coll, pipeline = [] } = ($lookup ?? $unionWith ?? {}) as Join
  const joined = from ?? coll
  if (joined === undefined) return null
  if (SHARDED.includes(joined) && $lookup !== undefined && isInTransaction(command)) return '$lookup in a transaction'
  return findStagesProblem(command, joined, pipeline)
}

const RANGE = ['$gt', '$gte', '$lt', '$lte']

/** Whether a filter selects users by id, a list of ids or a range of ids. */
function selectsUsers(filter: Fields): boolean {
  return hasCondition(filter, (user) => isOne(user) || '$in' in Object(user) || isRange(user))
}

/** Whether a filter selects one user by id. */
function selectsOneUser(filter: Fields): boolean {
  return hasCondition(filter, isOne)
}

function hasCondition(filter: Fields, isMet: (user: unknown) => boolean): boolean {
  const { userId, $and = [], $or } = filter as { userId?: unknown; $and?: Fields[]; $or?: Fields[] }
  if (userId !== undefined && isMet(userId)) return true
  if ($and.some((one) => hasCondition(one, isMet))) return true
  return $or !== undefined && $or.every((one) => hasCondition(one, isMet))
}

const isOne = (user: unknown): boolean => typeof user === 'string' || typeof Object(user)['$eq'] === 'string'

function isRange(user: unknown): boolean {
  const names = Object.keys(Object(user))
  return names.length > 0 && names.every((name) => RANGE.includes(name))
}
