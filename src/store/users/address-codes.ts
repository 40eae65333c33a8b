import { Schema, type ClientSession, type Connection } from 'mongoose'
import { addCode, joinNewestCode, tryCode, type MailedCode } from '../../domain/users/address-codes.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { HOUR } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { hashKey } from '../shared/rate-limits.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'

/** Longer than a code and its proof are valid. */
const RETENTION_MS = HOUR

const MAX_CONFLICTS = 50

/** The codes mailed to an address, and the proof that one was entered. */
interface AddressCode {
  /** Keyed hash of the address. */
  _id: string
  codes: MailedCode[]
  revision: number
  /** When the proof expires. */
  verifiedUntil: Date | null
  /** Hash of the proof issued for the right code; absent before. */
  proofHash?: string
  removeAt: Date
}

const mailedCodeSchema = new Schema<MailedCode>(
  {
    codeHash: required(String),
    expiresAt: required(Date),
    senders: [new Schema({ key: required(String), triesLeft: required(Number) }, subdocumentOptions)],
    sharedTriesLeft: required(Number),
  },
  subdocumentOptions,
)

const codeSchema = new Schema<AddressCode>(
  {
    _id: required(String),
    codes: [mailedCodeSchema],
    revision: required(Number),
    verifiedUntil: nullable(Date),
    proofHash: String,
    removeAt: required(Date),
  },
  schemaOptions,
)

codeSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })
codeSchema.index({ proofHash: 1 }, { partialFilterExpression: { proofHash: { $type: 'string' } } })

interface Proof {
  proofHash: string
  verifiedUntil: Date
}

export function createAddressCodeStore(connection: Connection, now: () => Date) {
  connection.model<AddressCode>('AddressCode', codeSchema, 'addressCodes')

  const collection = nativeCollection<AddressCode>(connection, 'addressCodes')
  const computeRemoval = () => new Date(now().getTime() + RETENTION_MS)
  const toProofFilter = (addressKey: string, proofHashes: string[]) => ({
    _id: addressKey,
    proofHash: { $in: proofHashes },
    verifiedUntil: { $gt: now() },
  })

  const queueByAddress = createFairLimit({ maxRunning: Infinity, perKey: 1 })

  /**
   * Applies a move to the codes of the address, conditional on the revision of its record. A move that returns null changes
   * nothing.
   */
  const change = (_id: string, move: (codes: MailedCode[]) => Partial<AddressCode> | null) =>
    queueByAddress(_id, async () => {
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
        const stored = await collection().findOne({ _id })
        const moved = move(stored?.codes ?? [])
        if (moved === null || (await write(_id, stored, moved))) return moved
      }
      throw new ServiceError('SERVICE_UNAVAILABLE', 'This address is busy. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    })

  async function write(_id: string, stored: AddressCode | null, moved: Partial<AddressCode>): Promise<boolean> {
    if (stored) {
      const { revision } = stored
      const $set = { ...moved, revision: revision + 1 }
      return (await collection().updateOne({ _id, revision }, { $set })).matchedCount === 1
    }
    try {
      await collection().insertOne({
        _id,
        codes: [],
        revision: 1,
        verifiedUntil: null,
        removeAt: computeRemoval(),
        ...moved,
      })
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  return {
    /** Stores a code for its sender. The proof of an earlier code stays, so that strangers cannot remove it. */
    async put(addressKey: string, code: { codeHash: string; expiresAt: Date; sender: string }): Promise<void> {
      const added = { ...code, sender: hashKey(code.sender), now: now() }
      await change(addressKey, (codes) => ({ codes: addCode(codes, added), removeAt: computeRemoval() }))
    },

    /** Lets the sender try the newest code. Returns false when there is none. */
    async join(addressKey: string, sender: string): Promise<boolean> {
      const joined = await change(addressKey, (codes) => {
        const left = joinNewestCode(codes, { sender: hashKey(sender), now: now() })
        return left && { codes: left }
      })
      return joined !== null
    },

    /**
     * Counts one try of the sender, which concurrent guesses share. The right code removes all codes of the address and stores
     * the proof in place of an earlier one.
     * @returns whether the code was right
     */
    async verify(addressKey: string, guess: { codeHash: string; sender: string }, proof: Proof): Promise<boolean> {
      const tried = await change(addressKey, (stored) => {
        if (stored.length === 0) return null
        const sender = hashKey(guess.sender)
        const { codes, isRight } = tryCode(stored, { codeHash: guess.codeHash, sender, now: now() })
        return { codes, ...(isRight && { ...proof, removeAt: computeRemoval() }) }
      })
      return tried?.proofHash === proof.proofHash
    },

    async remove(addressKey: string): Promise<void> {
      await collection().deleteOne({ _id: addressKey })
    },

    /** The key of the address that any of these proofs is valid for; null when none is valid. */
    async findProven(proofHashes: string[]): Promise<string | null> {
      const found = await collection().findOne(
        { proofHash: { $in: proofHashes }, verifiedUntil: { $gt: now() } },
        { projection: { _id: 1 } },
      )
      return found?._id ?? null
    },

    /** Returns whether any of these proofs is valid for the address. */
    async isProven(addressKey: string, proofHashes: string[]): Promise<boolean> {
      return (await collection().findOne(toProofFilter(addressKey, proofHashes), { projection: { _id: 1 } })) !== null
    },

    /** Consumes the proof of the address. Returns false when none is valid for it. */
    async useProof(addressKey: string, proofHashes: string[], session: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        toProofFilter(addressKey, proofHashes),
        { $set: { verifiedUntil: null }, $unset: { proofHash: 1 } },
        { session },
      )
      return matchedCount === 1
    },
  }
}
