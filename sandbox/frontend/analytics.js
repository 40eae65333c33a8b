import { heat, line, stackedBars } from './charts.js'
import { describeTarget } from './accounts.js'
import { ask, call } from './client.js'
import { $, element, link, table } from './elements.js'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'))
const METRICS = ['likes', 'comments', 'shares', 'impressions', 'reach', 'saved']
const TOP = 5
const TEXT_LENGTH = 120

const number = (value) => (value === null ? 'not reported' : value.toLocaleString())
const percent = (value) => (value === null ? 'not reported' : `${(value * 100).toFixed(1)} %`)
const day = (date) => date.slice(5)

export function startAnalytics() {
  for (const choice of document.querySelectorAll('#period input')) choice.onchange = () => void showAnalytics()
  $('#rank').onchange = () => void showTop()
}

const read = (path, params = '') =>
  call('GET', `/api/analytics/${path}?period=${$('#period input:checked').value}${params}`)

export async function showAnalytics() {
  await Promise.all([showOverview(), showTimeline(), showGrowth(), showTop(), showHeatmap()])
}

async function showOverview() {
  const [overview, platforms] = await Promise.all([read('overview'), read('platforms')])
  if (!overview || !platforms) return
  const { stats, followers } = overview
  const change = stats.engagementChangePercent
  const figures = {
    Posts: number(stats.totalPosts),
    Engagement: number(stats.totalEngagement),
    'Change in engagement': change === null ? 'no earlier data' : `${change > 0 ? '+' : ''}${Math.round(change)} %`,
    Impressions: number(stats.totalImpressions),
    Reach: number(stats.totalReach),
    'Average engagement rate': percent(stats.avgEngagementRate),
    Followers: number(followers.total),
    'Best platform': stats.bestPlatform ?? 'none yet',
  }
  $('#figures').replaceChildren(
    ...Object.entries(figures).map(([name, value]) =>
      element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value })),
    ),
  )
  const rows = platforms.map(({ _id, totalPosts, totalEngagement, avgEngagementRate }) => {
    const followed = followers.breakdown[_id] ?? null
    return [_id, number(totalPosts), number(totalEngagement), percent(avgEngagementRate), number(followed)]
  })
  const columns = ['Platform', 'Posts', 'Engagement', 'Average rate', 'Followers']
  $('#by-platform').replaceChildren(table('Platforms, best first', columns, rows))
}

async function showTimeline() {
  const days = (await read('timeline')) ?? []
  const bars = days.map(({ _id, likes, comments, shares }) => ({ label: day(_id), parts: [likes, comments, shares] }))
  $('#timeline').replaceChildren(stackedBars('Engagement per day', ['likes', 'comments', 'shares'], bars))
}

async function showGrowth() {
  const days = (await read('growth')) ?? []
  const platforms = [...new Set(days.flatMap(({ breakdown }) => Object.keys(breakdown)))]
  const lines = platforms.map((platform) => {
    const known = days.filter(({ breakdown }) => breakdown[platform] !== undefined)
    return line(
      platform,
      known.map(({ _id, breakdown }) => ({ label: day(_id), value: breakdown[platform] })),
    )
  })
  $('#growth').replaceChildren(...(lines.length > 0 ? lines : ['No follower counts yet.']))
}

async function showTop() {
  const top = (await read('posts/top', `&limit=${TOP}&sortBy=${$('#rank').value}`)) ?? []
  $('#top').replaceChildren(
    ...(top.length > 0 ? top.map(topItem) : [element('li', { textContent: 'No posts in this period.' })]),
  )
}

function topItem({ postId, platform, accountId, snapshotAt, metrics, derived, postDetails }) {
  const isIt = (entry) => (accountId ? entry.accountId === accountId : entry.platform === platform)
  const { platformPostUrl, accountName } = postDetails.platformStatuses.find(isIt) ?? {}
  const target = describeTarget(platform, accountName)
  const { text } = postDetails.content
  const shown = text.length > TEXT_LENGTH ? `${text.slice(0, TEXT_LENGTH)}…` : text
  const counts = element('small', { textContent: describeCounts({ metrics, derived }) })
  const state = element('small', { role: 'status', textContent: `as of ${formatTime(snapshotAt)}` })
  const refresh = element('button', {
    textContent: 'Refresh',
    ariaLabel: `Refresh the counts of “${shown}” on ${target}`,
  })
  refresh.onclick = async () => {
    refresh.disabled = true
    state.textContent = 'refreshing …'
    const { words, snapshot } = await refreshCounts(postId, platform, accountId)
    state.textContent = words
    if (snapshot) counts.textContent = describeCounts({ metrics: snapshot, derived: snapshot })
    refresh.disabled = false
  }
  const name = platformPostUrl ? link(platformPostUrl, target) : target
  return element('li', {}, element('b', {}, name), ` ${shown} `, counts, element('p', {}, refresh, ' ', state))
}

/** Requests new counts and describes the result. */
async function refreshCounts(postId, platform, accountId) {
  const query = new URLSearchParams({ platform, ...(accountId && { account: accountId }) })
  const { response, answer } = await ask('POST', `/api/analytics/posts/${postId}/refresh?${query}`)
  if (response.status === 429) {
    const minutes = Math.ceil(Number(response.headers.get('retry-after')) / 60)
    return { words: `Refreshed too often. Try again in ${minutes} min (429)` }
  }
  if (!response.ok) return { words: `${response.status} ${answer.message}` }
  const { fresh, snapshot } = answer.data
  if (fresh) return { words: `refreshed, as of ${formatTime(snapshot.snapshotAt)}`, snapshot }
  const known = snapshot ? `as of ${formatTime(snapshot.snapshotAt)}` : 'no counts yet'
  return { words: `the platform returned no new counts: ${known}`, snapshot }
}

function describeCounts({ metrics, derived }) {
  const reported = METRICS.filter((name) => metrics[name] !== null).map((name) => `${number(metrics[name])} ${name}`)
  const unreported = METRICS.filter((name) => metrics[name] === null)
  const rate = `engagement rate: ${percent(derived.engagementRate)}`
  return [...reported, rate, ...(unreported.length > 0 ? [`${unreported.join(', ')}: not reported`] : [])].join(' · ')
}

const formatTime = (instant) => new Date(instant).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short' })

async function showHeatmap() {
  const cells = (await read('heatmap')) ?? []
  const valueAt = (row, column) => {
    const cell = cells.find((one) => one.day === row && one.hour === column)
    return cell && cell.postCount > 0 ? cell.value : null
  }
  $('#heatmap').replaceChildren(heat('Average engagement by day and hour', DAYS, HOURS, valueAt))
}
