/**
 * The comment of a query of a collection that is sharded by user, but without the user. Such a query is answered by every shard. Operators
 * find it in the profiler.
 */
export const ALL_SHARDS = { comment: 'asks every shard' } as const
