const api = document.querySelector('meta[name=api]').content
export const REFRESH = '/api/auth/refresh'
const SHOWN_MS = 8_000
let clearing

/** The access token, sent with every request while a user is signed in. */
export const session = { token: null }

/** Returns the response and its parsed body. */
export async function ask(method, path, body) {
  const response = await fetch(api + path, {
    method,
    credentials: 'include',
    headers: {
      ...(session.token && { authorization: `Bearer ${session.token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { response, answer: await response.json() }
}

/** Returns `data`, or undefined after an error. The page shows the response of every change. */
export async function call(method, path, body) {
  const { response, answer } = await ask(method, path, body)
  // Background requests are not shown.
  if (method !== 'GET' && path !== REFRESH) {
    showAnswer(response, answer)
  }
  return response.ok ? answer.data : undefined
}

/** Errors and warnings stay until the next response. */
function showAnswer({ status, ok }, { message, errors = [], data }) {
  const field = document.querySelector('#answer')
  field.className = ok ? '' : 'problem'
  // The message quotes the first error. Several accounts may have the same one.
  const problems = [...errors, ...(data?.warnings ?? [])]
  const further = new Set(problems.map((problem) => problem.message).filter((words) => !message.includes(words)))
  field.textContent = [`${status} ${message}`, ...further].join('. ')
  clearTimeout(clearing)
  if (ok && further.size === 0) clearing = setTimeout(() => (field.textContent = ''), SHOWN_MS)
}

export function openStream() {
  return new WebSocket(`${api.replace(/^http/, 'ws')}/api/notifications/stream`)
}
