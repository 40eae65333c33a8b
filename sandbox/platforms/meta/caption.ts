import { badParameter, GraphRefusal } from '../shared/graph/graph.ts'

const MAX = { characters: 2_200, hashtags: 30, mentions: 20 }
const HASHTAG = /[#＃](?=[\p{L}\p{M}\p{N}_\u{200c}\u{200d}])/gu
const MENTION = /[@＠](?=[\p{L}\p{N}_.])/gu

/**
 * "Maximum 2200 characters, 30 hashtags, and 20 @ tags" (IG User Media, parameter `caption`; codes from the list of error
 * codes of the Instagram Platform, both read in September 2026). The documentation states neither the unit nor where a
 * tag begins: UTF-16 units, and every sign with a name behind it, are the strictest reading.
 * @throws GraphRefusal
 */
export function assertCaption(text: string): void {
  const count = (sign: RegExp) => text.match(sign)?.length ?? 0
  if (text.length > MAX.characters) refuse(36_004, 2_207_010, 'The caption was too long')
  if (count(MENTION) > MAX.mentions) refuse(100, 2_207_040, 'Cannot use more than 20 tags per created media')
  if (count(HASHTAG) > MAX.hashtags) throw badParameter('A caption takes at most 30 hashtags')
}

function refuse(code: number, subcode: number, message: string): never {
  throw new GraphRefusal({ code, subcode, message })
}
