import { dictionary } from '@zxcvbn-ts/language-common'

let commonPasswords: Set<string> | undefined

/**
 * Returns true when the bundled list of common passwords has the password, ignoring case.
 * @param password in its normal form
 */
export function isCommonPassword(password: string): boolean {
  commonPasswords ??= new Set(dictionary['passwords-common'])
  return commonPasswords.has(password.toLowerCase())
}
