/** Tries of a sender on a code that it requested. All other senders share as many. */
const TRIES = 5
/** Senders with tries of their own on one code. Together with the limits on mails it bounds the guesses per address. */
const MAX_SENDERS = 10

/** A code that was mailed to an address. */
export interface MailedCode {
  codeHash: string
  expiresAt: Date
  /** Keys of the networks that requested it. No other sender can use up their tries. */
  senders: { key: string; triesLeft: number }[]
  strangerTriesLeft: number
}

interface Guess {
  codeHash: string
  sender: string
  now: Date
}

/** Adds a code. It replaces the sender's earlier code. Codes requested by others stay, so that no stranger can revoke them. */
export function addCode(
  codes: MailedCode[],
  { codeHash, expiresAt, sender, now }: Guess & { expiresAt: Date },
): MailedCode[] {
  const isReplaced = ({ senders }: MailedCode) => senders.length === 1 && senders[0]!.key === sender
  const remaining = codes.filter((code) => code.expiresAt > now && !isReplaced(code))
  return [...remaining, { codeHash, expiresAt, senders: [{ key: sender, triesLeft: TRIES }], strangerTriesLeft: TRIES }]
}

/** Gives the sender tries of its own on the newest code instead of sending another mail. Returns null when there is no valid code. */
export function joinNewestCode(codes: MailedCode[], { sender, now }: Omit<Guess, 'codeHash'>): MailedCode[] | null {
  const newest = codes.findLast(({ expiresAt }) => expiresAt > now)
  if (!newest) return null
  const isFull = newest.senders.length >= MAX_SENDERS || newest.senders.some(({ key }) => key === sender)
  if (isFull) return codes
  const joined = { ...newest, senders: [...newest.senders, { key: sender, triesLeft: TRIES }] }
  return codes.map((code) => (code === newest ? joined : code))
}

/** Tries a code. Each compared code loses a try, and a correct try revokes all codes of the address. */
export function tryCode(
  codes: MailedCode[],
  { codeHash, sender, now }: Guess,
): { codes: MailedCode[]; isRight: boolean } {
  let isRight = false
  const left = codes.map((code) => {
    const own = code.senders.find(({ key }) => key === sender)
    const triesLeft = own ? own.triesLeft : code.strangerTriesLeft
    if (triesLeft <= 0 || code.expiresAt <= now) return code
    isRight ||= code.codeHash === codeHash
    if (!own) return { ...code, strangerTriesLeft: triesLeft - 1 }
    const senders = code.senders.map((one) => (one === own ? { ...own, triesLeft: triesLeft - 1 } : one))
    return { ...code, senders }
  })
  return isRight ? { codes: [], isRight } : { codes: left, isRight }
}
