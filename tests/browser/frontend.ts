import { createServer } from 'node:http'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'

/** What a frontend does, as little of it as connecting an account needs; the script runs in the browser. */
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Settings</title>
<h1>Settings</h1>
<p id="outcome"></p>
<form id="login"><input name="email"><input name="password" type="password"><button>Log in</button></form>
<p id="who"></p>
<button class="connect" value="mastodon">Connect Mastodon</button>
<button class="connect" value="tumblr">Connect Tumblr</button>
<script type="module">
  const api = new URLSearchParams(location.search).get('api') ?? sessionStorage.getItem('api')
  sessionStorage.setItem('api', api)
  document.querySelector('#outcome').textContent = location.search
  let token = null

  async function call(method, path, body) {
    const response = await fetch(api + path, {
      method,
      credentials: 'include',
      headers: { ...(token && { authorization: 'Bearer ' + token }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()).data
  }
  // A new page has no token any more, but the browser still has the cookie of the session.
  async function show() {
    token = (await call('POST', '/api/auth/refresh'))?.accessToken ?? null
    document.querySelector('#who').textContent = token === null ? 'nobody' : 'somebody'
  }
  document.querySelector('#login').addEventListener('submit', async (event) => {
    event.preventDefault()
    await call('POST', '/api/auth/login', Object.fromEntries(new FormData(event.target)))
    await show()
  })
  for (const button of document.querySelectorAll('.connect')) {
    button.addEventListener('click', async () => {
      const { authUrl } = await call('GET', '/api/platform/' + button.value + '/connect')
      location.assign(authUrl)
    })
  }
  window.call = call
  await show()
</script></html>
`

/** Stands where the frontend is: one page, for the root and the settings alike. */
export async function startFrontend() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE)
  })
  const port = new URL(await listenOnLoopback(server)).port
  return { url: `http://localhost:${port}`, stop: () => closeServer(server) }
}
