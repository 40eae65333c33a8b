export const POST_SNAPSHOTS = 'postSnapshots'
export const ACCOUNT_SNAPSHOTS = 'accountSnapshots'
