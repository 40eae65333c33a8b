import { call } from './client.js'
import { $, element, onSubmit } from './elements.js'

/** Starts the forms and buttons that add accounts. `show` is called after every change. */
export function startAccounts(show) {
  onSubmit($('#add-bluesky'), async (fields) => {
    if (!(await call('POST', '/api/platform/bluesky/connect?replace=false', Object.fromEntries(fields)))) return
    $('#add-bluesky').reset()
    await show()
  })
  onSubmit($('#add-mastodon'), (fields) => logIn('mastodon', fields.get('instance').trim()))
  for (const button of document.querySelectorAll('#add-others button')) button.onclick = () => void logIn(button.value)
}

/** Opens the login page of a platform. `server` is empty for the default one. */
async function logIn(platform, server = '') {
  const path = `/api/platform/${platform}/connect?replace=false`
  const begun = await (server === '' ? call('GET', path) : call('POST', path, { instance: server }))
  if (begun) location.assign(begun.authUrl ?? begun.url)
}

/** Renders the accounts, and the choice of accounts for a post. */
export async function showAccounts(show) {
  const [accounts, limits] = await Promise.all([
    call('GET', '/api/platform/accounts'),
    call('GET', '/api/platform/limits'),
  ])
  if (!accounts || !limits) return
  $('#accounts').replaceChildren(
    ...(accounts.length > 0
      ? accounts.map((account) => accountItem(account, show))
      : [element('li', { textContent: 'No account is connected yet.' })]),
  )
  showChoice(accounts, limits)
}

function accountItem(account, show) {
  const { _id, platform, profile, server, isDefault, label, health } = account
  const path = `/api/platform/accounts/${_id}`
  const name = describeTarget(platform, profile.handle)
  const button = (className, words, act) =>
    element('button', { className, textContent: words, ariaLabel: `${words}: ${name}`, onclick: () => void act() })
  const change = async (method, body) => {
    if (await call(method, path, body)) await show()
  }
  const host = server && new URL(server).host
  const details = [label, profile.displayName, host].filter((words) => words && !profile.handle.includes(words))
  return element(
    'li',
    { className: 'account' },
    element(
      'div',
      {},
      element('b', { textContent: name }),
      ...(isDefault ? [' ', element('span', { className: 'tag', textContent: 'default' })] : []),
      element('small', {}, ...details.flatMap((words) => [words, ' · ']), healthOf(health)),
    ),
    element(
      'div',
      { className: 'buttons' },
      ...(health.needsReconnection ? [button('reconnect', 'Reconnect', () => reconnect(account))] : []),
      ...(isDefault ? [] : [button('make-default', 'Make default', () => change('PATCH', { isDefault: true }))]),
      button('disconnect', 'Disconnect', () => change('DELETE')),
    ),
  )
}

function healthOf({ status, lastError }) {
  return element('span', {
    className: status === 'active' ? 'active' : 'problem',
    textContent: lastError ? `${status}: ${lastError}` : status,
  })
}

/** Connecting the same account again renews its login. */
async function reconnect({ platform, profile, server }) {
  if (platform === 'bluesky') {
    $('#add-bluesky [name=identifier]').value = profile.handle
    $('#add-bluesky [name=appPassword]').focus()
    return
  }
  // Instagram accounts are connected with Facebook.
  await logIn(platform === 'instagram' ? 'facebook' : platform, server ?? '')
}

/**
 * Renders a checkbox for each account. Default accounts are selected by their platform, all others by their id. The
 * user's choice stays; new default accounts are checked unless their platform requires media.
 */
function showChoice(accounts, limits) {
  const chosen = new Map([...document.querySelectorAll('#on input')].map((input) => [input.value, input.checked]))
  const options = accounts.map(({ _id, platform, profile, isDefault, label }) => {
    const value = isDefault ? platform : _id
    const needsMedia = limits[platform].media.required
    const checked = chosen.get(value) ?? (isDefault && !needsMedia)
    const input = element('input', { type: 'checkbox', name: isDefault ? 'on' : 'account', value, checked })
    const hints = [isDefault ? '' : label, needsMedia ? 'needs a picture' : ''].filter(Boolean)
    const hint = element('small', { textContent: hints.join(' · ') })
    return element('label', {}, input, ` ${describeTarget(platform, profile.handle)} `, hint)
  })
  const legend = options.length > 0 ? 'Publish on' : 'Connect an account first, then choose where to publish'
  $('#on').replaceChildren(element('legend', { textContent: legend }), ...options)
}

/** Where an entry of a post is published. An entry without an account has no name. */
export function describeTarget(platform, accountName) {
  const label = platform[0].toUpperCase() + platform.slice(1)
  return accountName ? `${label} ${accountName}` : label
}
