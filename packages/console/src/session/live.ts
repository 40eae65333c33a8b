import type { components } from '@postonce/sdk'
import { notifications } from '@mantine/notifications'
import { useEffect, useSyncExternalStore } from 'react'
import { apiUrl } from '../shared/page-settings.ts'
import { queryClient, reportFailure } from './query-client.ts'
import { client, currentAccessToken } from './session.ts'

type Notification = components['schemas']['Notification']

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

/** Whether changes arrive as they happen. */
let isLive = false
const listeners = new Set<() => void>()

function setLive(value: boolean): void {
  isLive = value
  for (const listener of listeners) listener()
}

export function useIsLive(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isLive,
  )
}

/** Follows the user's notifications while the component is mounted. Each one makes the queries stale that it is about. */
export function useLiveUpdates(): void {
  useEffect(() => {
    const stopping = new AbortController()
    void follow(stopping.signal)
    return () => stopping.abort()
  }, [])
}

/** Connects again after every end: the service closes the stream of an ended access token, and the next request renews that. */
async function follow(signal: AbortSignal): Promise<void> {
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const wasReady = await client.request('GET', '/api/auth/me', { signal }).then(
      () => listen(signal),
      (error: unknown) => {
        // The session may have ended elsewhere.
        reportFailure(error)
        return false
      },
    )
    setLive(false)
    if (wasReady) wait = FIRST_WAIT_MS
    await sleepUntilOnline(wait)
  }
}

/** Waits, or until the browser has a network again. */
function sleepUntilOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      window.removeEventListener('online', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    window.addEventListener('online', end)
  })
}

/** Resolves when the stream has ended, with whether it was accepted. */
function listen(signal: AbortSignal): Promise<boolean> {
  const socket = new WebSocket(`${apiUrl.replace(/^http/, 'ws')}/api/notifications/stream`)
  let ready = false
  signal.addEventListener('abort', () => socket.close())
  socket.onopen = () => socket.send(JSON.stringify({ auth: { token: currentAccessToken() } }))
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as { event: string; data?: Notification }
    if (message.event === 'ready') {
      ready = true
      setLive(true)
      // For whatever happened without a connection.
      void queryClient.invalidateQueries()
    }
    if (message.event === 'notification' && message.data) receive(message.data)
  }
  return new Promise((resolve) => (socket.onclose = () => resolve(ready)))
}

/** The resources that a notification may have changed, by the kind of record that it refers to. */
const CHANGED: Record<string, string[]> = {
  post: ['posts', 'subscription', 'media'],
  platform: ['accounts', 'limits'],
  subscription: ['subscription'],
}

function receive({ _id, message, type, reference }: Notification): void {
  for (const resource of ['notifications', ...(CHANGED[reference.type] ?? [])]) {
    void queryClient.invalidateQueries({ queryKey: [resource] })
  }
  if (type === 'error' || type === 'warning') {
    notifications.show({ id: _id, color: type === 'error' ? 'red' : 'yellow', message, autoClose: 12_000 })
  }
}
