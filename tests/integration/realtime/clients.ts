import { once } from 'node:events'
import { io, type ManagerOptions, type SocketOptions } from 'socket.io-client'
import { WebSocket, type ClientOptions } from 'ws'

/** A notification as a client receives it. */
export interface Received {
  _id: string
  userId: string
  message: string
}

/** The client operations that tests use, whatever the transport. */
export interface Client {
  /** Received notifications in order of arrival. */
  received: Received[]
  /** Returns the next notification. */
  next(): Promise<Received>
  /** Resolves with the message of the last error when the connection is closed. */
  closed: Promise<string>
  isOpen(): boolean
  /** Sends a new token; resolves when the service accepted it. */
  refresh(token: string): Promise<void>
  close(): void
}

export type Transport = 'plain' | 'websocket' | 'polling'
export const TRANSPORTS: Transport[] = ['plain', 'websocket', 'polling']

interface ConnectOptions {
  namespace?: string
  headers?: Record<string, string>
}

/** Resolves when the service reports that the client is connected. @throws with the message of a refusal */
export function connect(address: string, transport: Transport, token: string, options: ConnectOptions = {}) {
  return transport === 'plain'
    ? connectPlain(address, token, options)
    : connectSocketIo(address, token, { transports: [transport] }, options)
}

function inbox() {
  const received: Received[] = []
  const waiting: ((notification: Received) => void)[] = []
  return {
    received,
    next: () => new Promise<Received>((resolve) => void waiting.push(resolve)),
    take(notification: Received) {
      received.push(notification)
      for (const resolve of waiting.splice(0)) resolve(notification)
    },
  }
}

export const STREAM = '/api/notifications/stream'

export function openPlain(address: string, options: ClientOptions = {}): WebSocket {
  return new WebSocket(new URL(STREAM, address), options)
}

interface PlainMessage {
  event: string
  data: Received & { message: string; expiresAt: string }
}

async function connectPlain(address: string, token: string, { headers = {} }: ConnectOptions): Promise<Client> {
  const socket = openPlain(address, { headers })
  const { take, ...box } = inbox()
  let lastError = ''
  const closed = new Promise<string>((resolve) => {
    socket.on('error', (error) => (lastError ||= error.message))
    socket.once('close', (_code, reason) => resolve(lastError || String(reason)))
  })
  const ready: (() => void)[] = []
  socket.on('message', (text: Buffer) => {
    const { event, data } = JSON.parse(text.toString()) as PlainMessage
    if (event === 'notification') take(data)
    else if (event === 'error') lastError = data.message
    else for (const resolve of ready.splice(0)) resolve()
  })
  const authenticate = async (presented: string): Promise<void> => {
    const taken = new Promise<void>((resolve) => void ready.push(resolve))
    socket.send(JSON.stringify({ auth: { token: presented } }))
    await Promise.race([taken, closed.then((words) => Promise.reject(new Error(words)))])
  }
  await Promise.race([once(socket, 'open'), closed.then((words) => Promise.reject(new Error(words)))])
  await authenticate(token)
  return {
    ...box,
    closed,
    isOpen: () => socket.readyState === socket.OPEN,
    refresh: authenticate,
    close: () => socket.close(),
  }
}

/** Reconnects automatically only with `reconnection`. */
export async function connectSocketIo(
  address: string,
  token: string,
  manager: Partial<ManagerOptions & SocketOptions> = {},
  { namespace = '/', headers = {} }: ConnectOptions = {},
): Promise<Client> {
  const socket = io(new URL(namespace, address).href, {
    reconnection: false,
    forceNew: true,
    extraHeaders: headers,
    ...manager,
    auth: { token },
  })
  const { take, ...box } = inbox()
  let lastError = ''
  const closed = new Promise<string>((resolve) => {
    socket.once('disconnect', (reason) => resolve(lastError || reason))
    socket.on('connect_error', (error) => {
      lastError = error.message
      socket.io.once('close', () => resolve(lastError))
    })
  })
  socket.on('notification', take)
  socket.on('error', ({ message }: Error) => (lastError = message))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('connect_error', reject)
  })
  return {
    ...box,
    closed,
    isOpen: () => socket.connected,
    async refresh(fresh) {
      await Promise.race([
        socket.emitWithAck('auth', { token: fresh }),
        closed.then((words) => Promise.reject(new Error(words))),
      ])
    },
    close: () => void socket.disconnect(),
  }
}
