import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { callbackify } from 'node:util'
import { SMTPServer, type SMTPServerAddress, type SMTPServerSession } from 'smtp-server'
import { createControlServer } from '../platforms/control.ts'
import type { LedgerEntry } from '../platforms/proxied-platform.ts'
import { createFaults, type FaultAction } from '../platforms/faults.ts'
import { readJson, writeJson } from '../platforms/json-file.ts'
import { closeServer, listenOnLoopback } from '../platforms/listen.ts'
import { createSimulatorServer, type Route } from '../platforms/shared/server.ts'
import { createCaughtMails, type CaughtMail } from './mail/caught-mails.ts'
import { listPage, mailPage } from './mail/pages.ts'

const MAX_MAIL_BYTES = 10 * 1024 * 1024
const CLOSE_WITHIN_MS = 100

interface MailCatcherOptions {
  /** The folder for mails and ports; by default a temporary folder that is deleted on stop. */
  dir?: string
}

/**
 * Starts an SMTP server that stores every mail and delivers none. Its control interface is that of the platforms. The
 * method of a fault is the SMTP command (CONNECT, RCPT or DATA) and its account is the recipient. Supported actions:
 * `delayMs`, `status` (a reply code such as 450), `hang`, `cut` and `dropAfterAccept`.
 */
export async function startMailCatcher(options: MailCatcherOptions = {}) {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'postonce-mail-')))
  mkdirSync(dir, { recursive: true })
  const portsFile = join(dir, 'ports.json')
  const ports = readJson<{ smtp?: number; pages?: number; control?: number }>(portsFile, {})
  const mails = createCaughtMails(dir)
  const faults = createFaults()
  const smtp = createSmtpServer()

  const smtpPort = portOf(await listenOnLoopback(smtp.server.server, ports.smtp))
  const routes: Route[] = [
    ['GET', /^\/$/, () => listPage(mails.list())],
    ['GET', /^\/mails$/, ({ params }) => ({ status: 200, body: mails.list(params.text('to')) })],
    ['GET', /^\/mails\/(\d+)$/, ({ id }) => mailPage(mails.find(id))],
  ]
  const pages = createSimulatorServer({
    base: () => 'http://mail',
    routes,
    enter: () => ({}),
    notFound: () => ({ status: 404, body: { error: 'Not found' } }),
    failed: () => ({ status: 500, body: { error: 'The mail catcher failed unexpectedly' } }),
    maxBodyBytes: 0,
  })
  const url = await listenOnLoopback(pages, ports.pages)
  const controlServer = createControlServer({
    platform: { ledger: async () => mails.list().map(ledgerEntryOf) },
    faults,
    requests: () => [],
  })
  const control = await listenOnLoopback(controlServer, ports.control)
  writeJson(portsFile, { smtp: smtpPort, pages: portOf(url), control: portOf(control) })
  const smtpUrl = `smtp://127.0.0.1:${smtpPort}`

  return {
    url,
    control,
    smtpUrl,
    mails,
    faults,
    /** Closes the clients' connections, so that the next mail needs a new one. */
    cutConnections: smtp.cutConnections,
    env: (): Record<string, string> => ({ SMTP_URL: smtpUrl, MAIL_FROM: 'postonce <no-reply@postonce.test>' }),
    async stop(): Promise<void> {
      await Promise.all([smtp.close(), closeServer(pages), closeServer(controlServer)])
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true })
    },
  }

  function createSmtpServer() {
    const sockets = new Map<number, Socket>()
    const socketOf = ({ remotePort }: SMTPServerSession) => sockets.get(remotePort)

    /** Applies a matching fault. Rejects with the reply of the fault; never settles when the fault sends no reply. */
    async function applyFault(command: string, session: SMTPServerSession, recipient = ''): Promise<FaultAction> {
      const action = faults.take({ method: command, path: recipient, account: recipient || null }) ?? {}
      if (action.delayMs) await delay(action.delayMs)
      if (action.cut) socketOf(session)?.destroy()
      if (action.cut || action.hang) await new Promise(() => {})
      if (action.status)
        throw Object.assign(new Error(`Refused by a fault for ${recipient}`), { responseCode: action.status })
      return action
    }

    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      size: MAX_MAIL_BYTES,
      closeTimeout: CLOSE_WITHIN_MS,
      onConnect: callbackify((session: SMTPServerSession) => applyFault('CONNECT', session)),
      onRcptTo: callbackify(({ address }: SMTPServerAddress, session: SMTPServerSession) =>
        applyFault('RCPT', session, address),
      ),
      onData: callbackify(async (stream: Readable, session: SMTPServerSession) => {
        const { mailFrom, rcptTo } = session.envelope
        const to = rcptTo.map(({ address }) => address)
        const raw = await buffer(stream)
        const { dropAfterAccept } = await applyFault('DATA', session, to[0])
        await mails.add(raw, { from: mailFrom ? mailFrom.address : '', to })
        if (dropAfterAccept) socketOf(session)?.destroy()
      }),
    })
    // Ignores errors of connections that a fault closed.
    server.on('error', () => {})
    server.server.on('connection', (socket: Socket) => {
      const port = socket.remotePort!
      sockets.set(port, socket)
      socket.once('close', () => sockets.delete(port))
    })
    const cutConnections = (): void => {
      for (const socket of sockets.values()) socket.destroy()
    }
    return {
      server,
      cutConnections,
      close(): Promise<void> {
        cutConnections()
        return new Promise((resolve) => server.close(resolve))
      },
    }
  }
}

function ledgerEntryOf({ id, to, text, receivedAt }: CaughtMail): LedgerEntry {
  return { id, account: to.join(', '), text, media: [], createdAt: receivedAt }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

export type MailCatcher = Awaited<ReturnType<typeof startMailCatcher>>
