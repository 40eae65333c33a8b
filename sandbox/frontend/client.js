const api = document.querySelector('meta[name=api]').content
export const REFRESH = '/api/auth/refresh'

/** What goes with every request while somebody is logged in. */
export const session = { token: null }

/** Answers the response and what it says. */
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

/** Answers `data`, or nothing when it was refused; the page shows what was answered. */
export async function call(method, path, body) {
  const { response, answer } = await ask(method, path, body)
  // What nobody asked for needs no answer.
  if (method !== 'GET' && path !== REFRESH) {
    document.querySelector('#answer').textContent = `${response.status} ${answer.message}`
  }
  return response.ok ? answer.data : undefined
}

export function openStream() {
  return new WebSocket(`${api.replace(/^http/, 'ws')}/api/notifications/stream`)
}
