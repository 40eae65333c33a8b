import { dictionary } from '@zxcvbn-ts/language-common'

let known: Set<string> | undefined

/** Whether it is on the bundled list of those that are guessed first, in whatever case. @param password in its normal form */
export function isCommonPassword(password: string): boolean {
  known ??= new Set(dictionary['passwords-common'])
  return known.has(password.toLowerCase())
}
