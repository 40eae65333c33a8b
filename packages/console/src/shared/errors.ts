import { ApiError, ConnectionError, UploadError } from '@postonce/sdk'
import { notifications } from '@mantine/notifications'

/** Says in a sentence or two what went wrong and what to do next. */
export function describeError(error: unknown): string {
  if (error instanceof ConnectionError)
    return 'The service did not respond. What you entered stays here: check your connection and try again.'
  if (error instanceof ApiError && error.status === 429) {
    const wait = error.retryAfterSeconds
    return wait === null ? error.message : `${asSentence(error.message)} Try again in ${describeWait(wait)}.`
  }
  if (error instanceof ApiError || error instanceof UploadError) return error.message
  return error instanceof Error ? error.message : String(error)
}

const asSentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`)

function describeWait(seconds: number): string {
  return seconds > 120 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.max(1, Math.ceil(seconds))} seconds`
}

/** The problems of a refused form by the path of their field, for `form.setErrors`. */
export function problemsByField(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  return Object.fromEntries(error.problems.map(({ path, message }) => [path, message]))
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** Shows the failure of an action that has no place of its own on the page. */
export function showError(error: unknown): void {
  notifications.show({ color: 'red', title: 'That did not work', message: describeError(error), autoClose: 10_000 })
}

export function showDone(message: string): void {
  notifications.show({ color: 'teal', message })
}
