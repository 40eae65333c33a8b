import { generateKeyPairSync } from 'node:crypto'
import { createIds } from '../../platforms/shared/ids.ts'
import { openTables } from '../../platforms/shared/tables.ts'
import type { TakenMessage } from './messages.ts'

interface Account {
  projectId: string
  clientEmail: string
  privateKey: string
  publicKey: string
}

/** A message that was accepted for a device. */
interface Push {
  name: string
  message: TakenMessage
  at: string
}

/** The receiver's stored data. */
export function openState(file: string) {
  const table = openTables(file)
  const accounts = table<Account>('account')
  const pushes = table<Push>('pushes')
  const nextId = createIds((now) => now * 1_000n)
  const account = accounts.get('service') ?? accounts.set('service', makeAccount())

  return {
    /** The service account of our service. */
    account,
    pushes,
    /** Tokens of unregistered devices. */
    unregistered: table<true>('unregistered'),

    keep(message: TakenMessage): Push {
      const name = `projects/${account.projectId}/messages/${nextId()}`
      return pushes.set(name, { name, message, at: new Date().toISOString() })
    },
  }
}

export type PushState = ReturnType<typeof openState>

function makeAccount(): Account {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const projectId = 'postonce-sandbox'
  return { projectId, clientEmail: `postonce@${projectId}.iam.gserviceaccount.com`, privateKey, publicKey }
}
