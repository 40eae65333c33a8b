export const POST_SNAPSHOTS = 'postSnapshots'
export const ACCOUNT_SNAPSHOTS = 'accountSnapshots'
/** How far operations over all snapshots have come. */
export const ANALYTICS_PROGRESS = 'analyticsProgress'
