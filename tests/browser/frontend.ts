import { createServer } from 'node:http'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'

/** What a frontend does, as little of it as accounts and connections need; the script runs in the browser. */
const page = (api: string) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Frontend</title>
<h1>Frontend</h1>
<p id="outcome"></p>
<p id="answer"></p>
<p id="who"></p>
<form id="login" data-path="/login"><input name="email"><input name="password" type="password"><button>Log in</button></form>
<form id="code" data-path="/request-otp"><input name="email"><button>Send a code</button></form>
<form id="verify" data-path="/verify-otp"><input name="email"><input name="otp"><button>Verify</button></form>
<form id="signup" data-path="/signup"><input name="email"><input name="name"><input name="password" type="password">
  <input name="confirmPassword" type="password"><button>Register</button></form>
<form id="forgot" data-path="/send-reset-email"><input name="email"><button>Send a link</button></form>
<form id="reset" data-path="/reset-password"><input name="token" type="hidden"><input name="email" type="hidden">
  <input name="password" type="password"><button>Set</button></form>
<a id="google" href="${api}/api/auth/google">Log in with Google</a>
<button class="connect" value="mastodon">Connect Mastodon</button>
<button class="connect" value="tumblr">Connect Tumblr</button>
<script type="module">
  const query = new URLSearchParams(location.search)
  document.querySelector('#outcome').textContent = location.search
  let token = new URLSearchParams(location.hash.slice(1)).get('accessToken')
  history.replaceState(null, '', location.pathname + location.search)

  async function call(method, path, body) {
    const response = await fetch('${api}' + path, {
      method,
      credentials: 'include',
      headers: { ...(token && { authorization: 'Bearer ' + token }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    document.querySelector('#answer').textContent = response.status + ' ' + answer.message
    return answer.data
  }
  // A new page has no token any more, but the browser still has the cookie of the session.
  async function show() {
    token ??= (await call('POST', '/api/auth/refresh'))?.accessToken ?? null
    const me = token && (await call('GET', '/api/auth/me'))?.user
    document.querySelector('#who').textContent = me ? 'somebody: ' + me.name : 'nobody'
  }
  for (const name of ['token', 'email']) {
    document.querySelector('#reset [name=' + name + ']').value = query.get(name) ?? ''
  }
  for (const form of document.querySelectorAll('form')) {
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      const data = await call('POST', '/api/auth' + form.dataset.path, Object.fromEntries(new FormData(form)))
      if (!data?.user) return
      token = null
      await show()
    })
  }
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

/** Stands where the frontend is: one page, at every address. */
export async function startFrontend(api: string) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(api))
  })
  const port = new URL(await listenOnLoopback(server)).port
  return { url: `http://localhost:${port}`, stop: () => closeServer(server) }
}
