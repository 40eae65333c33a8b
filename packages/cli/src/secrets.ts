import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CliError, EXIT } from './exit-codes.ts'
import type { Io } from './io.ts'

/** Reads a line without showing it, or standard input when it is no terminal. */
export async function readSecret(io: Io, prompt: string): Promise<string> {
  const secret = process.stdin.isTTY ? await ask(io, prompt) : await io.readInput()
  if (secret.trim() === '') throw new CliError('Nothing was entered.', EXIT.usage)
  return secret.trim()
}

async function ask(io: Io, prompt: string): Promise<string> {
  process.stderr.write(prompt)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await reader.question('', { signal: io.signal })
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}
