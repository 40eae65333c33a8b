import { element, table } from './elements.js'

const SVG = 'http://www.w3.org/2000/svg'
const HEIGHT = 100

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** Creates a drawing that stretches to the available width. Labels are placed beside it, because it would distort them. */
function drawing(width, summary, ...shapes) {
  const frame = { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': summary }
  return shape('svg', frame, ...shapes)
}

function tooltip(words) {
  const title = document.createElementNS(SVG, 'title')
  title.textContent = words
  return title
}

/** One stacked bar per day; `days` are `{label, parts: [number]}`. */
export function stackedBars(title, names, days) {
  const sums = days.map(({ parts }) => parts.reduce((sum, part) => sum + part, 0))
  const highest = Math.max(1, ...sums)
  const bars = days.map(({ label, parts }, index) => {
    let y = HEIGHT
    const pieces = parts.map((part, which) => {
      const height = (part / highest) * HEIGHT
      y -= height
      return shape('rect', { x: index + 0.1, y, width: 0.8, height, class: `part-${which}` })
    })
    const words = names.map((name, which) => `${parts[which]} ${name}`).join(', ')
    return shape('g', {}, tooltip(`${label}: ${words}`), ...pieces)
  })
  const total = sums.reduce((sum, one) => sum + one, 0)
  const best = days[sums.indexOf(Math.max(...sums))]
  const summary = `${title}: ${total} in ${days.length} days, the most on ${best?.label} (${Math.max(0, ...sums)})`
  return element(
    'figure',
    {},
    element(
      'figcaption',
      {},
      title,
      legend(names),
      element('span', { className: 'scale', textContent: `up to ${highest}` }),
    ),
    drawing(Math.max(1, days.length), summary, ...bars),
    ends(days.map(({ label }) => label)),
    details(
      table(
        title,
        ['Day', ...names],
        days.map(({ label, parts }) => [label, ...parts]),
      ),
    ),
  )
}

/** A small line chart with its own scale; `points` are `{label, value}`. */
export function line(title, points) {
  const values = points.map(({ value }) => value)
  const [lowest, highest] = [Math.min(...values), Math.max(...values)]
  const last = Math.max(1, points.length - 1)
  const at = ({ value }, index) =>
    `${index},${HEIGHT - 8 - ((value - lowest) / Math.max(1, highest - lowest)) * (HEIGHT - 16)}`
  const change = values.at(-1) - values[0]
  const summary = `${title}: from ${values[0]} on ${points[0].label} to ${values.at(-1)} on ${points.at(-1).label}`
  return element(
    'figure',
    { className: 'small' },
    element(
      'figcaption',
      {},
      element('b', { textContent: title }),
      ` ${values.at(-1)} `,
      element('span', { className: 'change', textContent: change < 0 ? String(change) : `+${change}` }),
    ),
    drawing(last, summary, tooltip(summary), shape('polyline', { points: points.map(at).join(' ') })),
  )
}

const SHADES = 5

/** A table whose cells are darker for higher values; `valueAt(row, column)` is null for an empty cell. */
export function heat(title, rows, columns, valueAt) {
  const highest = Math.max(1, ...rows.flatMap((_, row) => columns.map((_, column) => valueAt(row, column) ?? 0)))
  const cell = (row, column) => {
    const value = valueAt(row, column)
    const shade = value === null ? 0 : 1 + Math.min(SHADES - 1, Math.floor((value / highest) * SHADES))
    const words = value === null ? '' : String(Math.round(value))
    const where = `${rows[row]}, ${columns[column]}:00`
    return element('td', { className: `shade-${shade}`, title: value === null ? where : `${where}: ${words}` }, words)
  }
  const made = table(
    title,
    ['', ...columns],
    rows.map((name, row) => [name, ...columns.map((_, column) => cell(row, column))]),
  )
  made.className = 'heat'
  return element('div', { className: 'scrolled', tabIndex: 0, role: 'region', ariaLabel: title }, made)
}

function legend(names) {
  const entries = names.map((name, which) => element('span', { className: `key part-${which}`, textContent: name }))
  return element('span', { className: 'legend' }, ...entries)
}

function ends(labels) {
  const shown = [labels[0], labels[Math.floor((labels.length - 1) / 2)], labels.at(-1)]
  return element('p', { className: 'ends' }, ...shown.map((label) => element('span', { textContent: label ?? '' })))
}

function details(content) {
  return element('details', {}, element('summary', { textContent: 'As a table' }), content)
}
