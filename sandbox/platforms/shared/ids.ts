/** Numbers that increase over time and never repeat; `ofTime` converts a time in milliseconds. */
export function createIds(ofTime: (now: bigint) => bigint): () => bigint {
  let last = 0n
  return () => {
    const now = ofTime(BigInt(Date.now()))
    last = now > last ? now : last + 1n
    return last
  }
}
