import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'

/** The search attributes of post workflows. They hold only ids and fixed values, because Temporal stores them unencrypted. */
export const POST_STATUS = defineSearchAttributeKey('PostStatus', SearchAttributeType.KEYWORD)
export const USER_ID = defineSearchAttributeKey('UserId', SearchAttributeType.KEYWORD)
export const PLATFORM_NAMES = defineSearchAttributeKey('Platforms', SearchAttributeType.KEYWORD_LIST)
export const DUE_AT = defineSearchAttributeKey('DueAt', SearchAttributeType.DATETIME)

export const SEARCH_ATTRIBUTES = [POST_STATUS, USER_ID, PLATFORM_NAMES, DUE_AT]
