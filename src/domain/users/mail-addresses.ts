const MAX_LENGTH = 254
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'
const ADDRESS = new RegExp(`^[^\\s\\p{C}"(),:;<>@\\[\\]\\\\]{1,64}@(?:${LABEL}\\.)+${LABEL}$`, 'u')

/**
 * One address that mail can be sent to, with any space around it. Nothing that means something in a mail's header: no names, quotes,
 * lists or line breaks, which are allowed in addresses and used in none.
 */
export function isMailAddress(text: string): boolean {
  const address = text.trim()
  return address.length <= MAX_LENGTH && ADDRESS.test(address)
}
