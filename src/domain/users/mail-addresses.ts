const MAX_LENGTH = 254
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'
const ADDRESS = new RegExp(`^[^\\s\\p{C}"(),:;<>@\\[\\]\\\\]{1,64}@(?:${LABEL}\\.)+${LABEL}$`, 'u')

/**
 * Returns true for a mail address, ignoring surrounding space. Rejects everything with a meaning in mail headers: names, quotes,
 * lists and line breaks. Some are allowed in addresses but not used in practice.
 */
export function isMailAddress(text: string): boolean {
  const address = text.trim()
  return address.length <= MAX_LENGTH && ADDRESS.test(address)
}
