import { describeTarget, showAccounts, startAccounts } from './accounts.js'
import { showAnalytics, startAnalytics } from './analytics.js'
import { call, openStream, REFRESH, session } from './client.js'
import { $, element, link, onSubmit } from './elements.js'

const SHOWN = 10
/** A post has a notification for its creation and one for each account. */
const GROUPED_NOTIFICATIONS = 100
/** Shorter than the ten minutes of an access token. */
const RENEW_MS = 8 * 60_000
/** Polled, because not every change of a plan sends a notification. */
const PLAN_MS = 3_000

const query = new URLSearchParams(location.search)
session.token = new URLSearchParams(location.hash.slice(1)).get('accessToken')
let stream = null
history.replaceState(null, '', location.pathname + location.search)
$('#outcome').textContent = /token=|session_id=/.test(location.search) ? '' : location.search

/** Renders the page. After a reload there is no access token, but the browser still has the session cookie. */
async function show() {
  session.token ??= (await call('POST', REFRESH))?.accessToken ?? null
  const me = session.token && (await call('GET', '/api/auth/me'))?.user
  document.body.className = me ? 'signed-in' : 'signed-out'
  if (me) {
    await Promise.all([showAccounts(show), showPosts(), showNotifications(), showPlan()])
    listen()
  } else $('#on').replaceChildren()
  $('#who').textContent = me ? `Signed in as ${me.name}` : 'Not signed in'
  if (me) await showAnalytics()
}

async function showPlan() {
  const { plan, subscription, usage, limits } = (await call('GET', '/api/payments/status')) ?? {}
  if (!plan) return
  const { processorCustomerId, processorSubscriptionId, cancelAtPeriodEnd } = subscription
  $('#plan').textContent = describePlan(subscription)
  $('#used').textContent =
    `${usage.postsCreated} of ${limits.maxPosts} posts, ${usage.captionGenerations} of ${limits.maxCaptionGenerations} captions`
  $('#upgrade').hidden = processorSubscriptionId !== null
  $('#billing').hidden = processorCustomerId === null
  $('#cancel-plan').hidden = processorSubscriptionId === null || cancelAtPeriodEnd
  $('#paid').textContent = describePayment(plan)
}

function describePlan({ plan, status, currentPeriodEnd, cancelAtPeriodEnd }) {
  if (plan === 'free') return status === 'cancelled' ? 'Free: Pro has ended.' : 'Free'
  const end = currentPeriodEnd ? new Date(currentPeriodEnd).toLocaleDateString() : null
  if (cancelAtPeriodEnd) return `Pro until ${end}, then Free`
  if (status === 'pastDue') return 'Pro. The last payment failed: check your card under Manage billing.'
  return end ? `Pro, renews on ${end}` : 'Pro'
}

/** Returns the result of a checkout after the payment processor redirected the browser here. */
function describePayment(plan) {
  if (location.pathname === '/payment/cancel')
    return `The checkout was cancelled. You paid nothing, and your plan is still ${plan}.`
  if (location.pathname !== '/payment/success') return ''
  return plan === 'pro'
    ? 'Your payment went through. You are on Pro now.'
    : 'Thank you. Pro starts as soon as the payment processor confirms the payment.'
}

/** Opens a page of the payment processor. */
async function openProcessorPage(path) {
  const page = await call('POST', path)
  if (page) location.assign(page.url)
}

async function cancelPlan() {
  await call('POST', '/api/payments/cancel')
  await showPlan()
}

async function showPosts() {
  const { posts = [] } = (await call('GET', `/api/posts?limit=${SHOWN}`)) ?? {}
  $('#posts').replaceChildren(
    ...posts.map(({ content, status, scheduledAt, dueAt, platformStatuses }) =>
      element(
        'li',
        {},
        element('b', { textContent: status }),
        ` ${scheduledAt ? new Date(dueAt ?? scheduledAt).toLocaleString() : ''} ${content.text} `,
        element('ul', { className: 'entries' }, ...platformStatuses.map(entryItem)),
      ),
    ),
  )
}

function entryItem({ platform, accountName, server, status, error, nextAttemptAt, platformPostUrl, warning = '' }) {
  const target = describeTarget(platform, accountName)
  const next = nextAttemptAt ? ` (next try ${new Date(nextAttemptAt).toLocaleString()})` : ''
  return element(
    'li',
    { title: server ?? '' },
    platformPostUrl ? link(platformPostUrl, target) : `${target}: ${error ?? status}${next}`,
    ` ${warning}`,
  )
}

async function showNotifications() {
  const path = `/api/notifications?limit=${GROUPED_NOTIFICATIONS}`
  const { notifications = [], unread = 0 } = (await call('GET', path)) ?? {}
  $('#unread').textContent = `${unread} unread`
  const groups = Map.groupBy(notifications, ({ _id, reference }) => (reference.type === 'post' ? reference.id : _id))
  $('#notifications').replaceChildren(...[...groups.values()].slice(0, SHOWN).map(notificationGroup))
}

/** Renders the notifications of a post as one entry: the latest, and the earlier ones folded unless one of them is a problem. */
function notificationGroup([latest, ...earlier]) {
  const { className, line } = describeNotification(latest)
  if (earlier.length === 0) return element('li', { className }, ...line)
  const further = earlier
    .map(describeNotification)
    .map((one) => element('li', { className: one.className }, ...one.line))
  const open = earlier.some(({ type }) => type === 'error' || type === 'warning')
  const summary = element('summary', { textContent: `${earlier.length} more about this post` })
  return element('li', { className }, ...line, element('details', { open }, summary, element('ul', {}, ...further)))
}

function describeNotification({ message, read, createdAt, options }) {
  const text = `${new Date(createdAt).toLocaleTimeString()} ${message} `
  return { className: read ? '' : 'unread', line: [text, ...(options.link ? [link(options.link, 'open')] : [])] }
}

/** Receives new notifications. After a lost connection the list is loaded again. */
function listen() {
  if (stream) return
  stream = openStream()
  stream.onopen = () => stream.send(JSON.stringify({ auth: { token: session.token } }))
  stream.onmessage = ({ data }) => {
    const { event, data: notification } = JSON.parse(data)
    if (event === 'ready') {
      $('#live').textContent = 'live'
      void Promise.all([showNotifications(), showPlan()])
    }
    if (event === 'notification') void Promise.all([showNotifications(), showPosts(), showPlan()])
    // It reports that an account needs a new login.
    if (notification?.reference?.type === 'platform') void showAccounts(show)
  }
  stream.onclose = () => {
    stream = null
    $('#live').textContent = 'offline'
    if (session.token) setTimeout(() => void renew(), 3_000)
  }
}

async function renew() {
  session.token = null
  await show()
}

async function upload(file) {
  const place = await call('POST', '/api/posts/media/upload', { contentType: file.type, sizeBytes: file.size })
  if (!place) return null
  await fetch(place.uploadUrl, { method: 'PUT', headers: { 'content-type': file.type }, body: file })
  return { storageKey: place.storageKey, mimeType: file.type, originalFilename: file.name, sizeBytes: file.size }
}

for (const name of ['token', 'email']) $(`#reset [name=${name}]`).value = query.get(name) ?? ''
$('#reset').hidden = !query.has('token')

for (const form of document.querySelectorAll('form[data-path]')) {
  onSubmit(form, async (fields) => {
    const data = await call('POST', `/api/auth${form.dataset.path}`, Object.fromEntries(fields))
    if (data?.user) await renew()
  })
}

onSubmit($('#post'), async (fields) => {
  const picture = fields.get('picture')
  const item = picture.size > 0 ? await upload(picture) : null
  const scheduledAt = fields.get('scheduledAt')
  const stored = await call('POST', '/api/posts?past=refuse', {
    content: { text: fields.get('text'), mediaItems: item ? [item] : [] },
    selectedPlatforms: fields.getAll('on'),
    selectedAccounts: fields.getAll('account'),
    ...(scheduledAt && { scheduledAt: new Date(scheduledAt).toISOString() }),
  })
  if (!stored) return
  for (const name of ['text', 'picture', 'scheduledAt']) $(`#post [name=${name}]`).value = ''
  await show()
})

async function readAll() {
  await call('PATCH', '/api/notifications/read-all')
  await showNotifications()
}

async function logOut() {
  await call('DELETE', '/api/auth/logout')
  session.token = null
  stream?.close()
  await show()
}

startAnalytics()
startAccounts(show)
$('#upgrade').onclick = () => void openProcessorPage('/api/payments/create-checkout')
$('#billing').onclick = () => void openProcessorPage('/api/payments/billing-portal')
$('#cancel-plan').onclick = () => void cancelPlan()
$('#read-all').onclick = () => void readAll()
$('#logout').onclick = () => void logOut()

async function renewToken() {
  if (!session.token) return
  session.token = (await call('POST', REFRESH))?.accessToken ?? null
  if (session.token && stream?.readyState === WebSocket.OPEN)
    stream.send(JSON.stringify({ auth: { token: session.token } }))
}

setInterval(() => void renewToken(), RENEW_MS)
setInterval(() => void (session.token && !document.hidden && showPlan()), PLAN_MS)
await show()
