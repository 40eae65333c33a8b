import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'

/** What operators search the workflows of posts by. Ids and words of ours only: Temporal stores the values unencrypted. */
export const POST_STATUS = defineSearchAttributeKey('PostStatus', SearchAttributeType.KEYWORD)
export const USER_ID = defineSearchAttributeKey('UserId', SearchAttributeType.KEYWORD)
export const PLATFORM_NAMES = defineSearchAttributeKey('Platforms', SearchAttributeType.KEYWORD_LIST)
export const DUE_AT = defineSearchAttributeKey('DueAt', SearchAttributeType.DATETIME)

export const SEARCH_ATTRIBUTES = [POST_STATUS, USER_ID, PLATFORM_NAMES, DUE_AT]
