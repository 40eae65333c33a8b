import { randomBytes } from 'node:crypto'

export function randomText(): string {
  return randomBytes(25).toString('hex')
}
