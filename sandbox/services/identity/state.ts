import { generateKeyPairSync, randomBytes, type JsonWebKey } from 'node:crypto'
import { openTables } from '../../platforms/shared/tables.ts'

/** A person with an account at the provider. */
export interface Person {
  /** The provider's id of the person, claim `sub`. */
  id: string
  name: string
  email: string | null
  emailVerified: boolean
  picture: string | null
}

export interface Client {
  id: string
  secret: string
  redirectUris: string[]
}

interface Secrets {
  signing: JsonWebKey
  cookies: string
}

/** The provider's stored data. */
export function openState(file: string) {
  const table = openTables(file)
  const secrets = table<Secrets>('secrets')

  return {
    people: table<Person>('people'),
    clients: table<Client>('clients'),
    secrets: secrets.get('own') ?? secrets.set('own', newSecrets()),
  }
}

export type State = ReturnType<typeof openState>

function newSecrets(): Secrets {
  return { signing: newSigningKey(), cookies: randomText() }
}

export function newSigningKey(): JsonWebKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return { ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }
}

export function randomText(): string {
  return randomBytes(24).toString('base64url')
}
