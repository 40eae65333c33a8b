import { run } from '../../scripts/provision.mjs'
import { findOrFetch } from './find-or-fetch.ts'
import { freePort, startProcess, type Running } from './process.ts'
import { goArch, goInstall, releaseArchive } from './sources.ts'

const VERSION = '0.203.0'

/**
 * Refuses requests that violate the payment processor's published schema, and answers the others with examples. It
 * stores nothing.
 */
export interface PaymentsMock extends Running {
  url: string
}

export function findPaymentsMock(): Promise<string> {
  const release = `https://github.com/stripe/stripe-mock/releases/download/v${VERSION}/stripe-mock_${VERSION}_${process.platform}_${goArch}.tar.gz`
  return findOrFetch({
    title: "The payment processor's schema server stripe-mock",
    program: 'stripe-mock',
    version: VERSION,
    variable: 'POSTONCE_STRIPE_MOCK',
    probe: async (path) => void (await run(path, ['-version'], { timeoutMs: 20_000 })),
    sources: [
      releaseArchive("the project's releases on github.com", release, 'stripe-mock'),
      goInstall('github.com/stripe/stripe-mock', VERSION, 'some seconds'),
    ],
    advice: 'install stripe-mock (https://github.com/stripe/stripe-mock/releases) or Go 1.25 or newer.',
  })
}

export async function startPaymentsMock({
  program,
  logFile,
}: {
  program: string
  logFile: string
}): Promise<PaymentsMock> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const running = await startProcess({
    title: 'stripe-mock',
    command: program,
    // Otherwise it also listens for TLS on every address.
    args: ['-http-addr', `127.0.0.1:${port}`, '-https-addr', '127.0.0.1:0'],
    logFile,
    ready: async () => (await fetch(url, { signal: AbortSignal.timeout(1_000) })).status > 0,
  })
  return { ...running, url }
}
