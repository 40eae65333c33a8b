const REGEX_SYNTAX = /[.*+?^${}()|[\]\\]/g

/** Returns the pattern of a regular expression that matches this text. */
export const toTextPattern = (text: string): string => text.replace(REGEX_SYNTAX, '\\$&')
