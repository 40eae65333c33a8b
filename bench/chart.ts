/** The data of a chart, as stored in the results. */
export interface Chart {
  /** File name without the extension. */
  id: string
  title: string
  x: Axis
  y: Axis
  /** The first line is postonce. */
  lines: Line[]
}

interface Axis {
  label: string
  log: boolean
}

interface Line {
  name: string
  points: [x: number, y: number][]
}

const WIDTH = 760
const HEIGHT = 380
const PLOT = { left: 64, right: 590, top: 74, bottom: 318 }
const LABEL_HEIGHT = 18

/** Follows the reader's color scheme. The chart has a background, so that it is readable on any page. */
const STYLE = `
  .page { fill: #ffffff } .title { fill: #1b1f24; font-size: 17px; font-weight: 600 } .text { fill: #57606a }
  .grid { stroke: #e3e7eb } .axis { stroke: #8c959f } .ours { color: #0969da } .other { color: #9a5b13 }
  .line { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linejoin: round } .other .line { stroke-dasharray: 6 4 }
  .point { fill: currentColor; stroke: #ffffff; stroke-width: 1.5 } .name { fill: currentColor; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .title { fill: #e6edf3 } .text { fill: #9da7b1 } .grid { stroke: #262c34 } .axis { stroke: #6e7681 }
    .ours { color: #58a6ff } .other { color: #e0a458 } .point { stroke: #0d1117 }
  }`

/** Returns a line chart as a complete SVG file. Each line has its name at its end. */
export function drawChart({ title, x, y, lines }: Chart): string {
  const xs = [...new Set(lines.flatMap(({ points }) => points.map(([value]) => value)))].toSorted((a, b) => a - b)
  const ys = lines.flatMap(({ points }) => points.map(([, value]) => value))
  const yTicks = y.log ? decades(Math.min(...ys), Math.max(...ys)) : niceTicks(Math.max(...ys))
  const atX = scale(x.log, [xs[0]!, xs.at(-1)!], [PLOT.left + 14, PLOT.right])
  const atY = scale(y.log, [yTicks[0]!, yTicks.at(-1)!], [PLOT.bottom, PLOT.top])
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    text(16, 28, title, 'title'),
    text(16, 50, y.label, 'text'),
    ...yTicks.map((tick) => rule(PLOT.left, atY(tick), PLOT.right, atY(tick), 'grid')),
    ...yTicks.map((tick) => text(PLOT.left - 8, atY(tick) + 4, number(tick), 'text', 'end')),
    rule(PLOT.left, PLOT.bottom, PLOT.right, PLOT.bottom, 'axis'),
    ...xs.map((tick) => rule(atX(tick), PLOT.bottom, atX(tick), PLOT.bottom + 5, 'axis')),
    ...withoutOverlaps(xs, atX).map((tick) => text(atX(tick), PLOT.bottom + 20, number(tick), 'text', 'middle')),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 44, x.label, 'text', 'middle'),
    ...lines.map((line, index) =>
      drawLine(line, index === 0 ? 'ours' : 'other', atX, atY, labelHeights(lines, atY)[index]!),
    ),
    '</svg>',
    '',
  ].join('\n')
}

type Scale = (value: number) => number

function drawLine({ name, points }: Line, side: string, atX: Scale, atY: Scale, labelY: number): string {
  const at = points.map(([x, y]) => `${round(atX(x))},${round(atY(y))}`)
  const circles = points.map(([x, y]) => {
    const tooltip = `<title>${escaped(name)}: ${number(y)} at ${number(x)}</title>`
    return `<circle class="point" cx="${round(atX(x))}" cy="${round(atY(y))}" r="4">${tooltip}</circle>`
  })
  return [
    `<g class="${side}">`,
    `<polyline class="line" points="${at.join(' ')}"/>`,
    ...circles,
    text(PLOT.right + 12, labelY + 4, name, 'name'),
    '</g>',
  ].join('')
}

/** Places each label beside the end of its line, without overlaps. */
function labelHeights(lines: Line[], atY: Scale): number[] {
  const wanted = lines.map(({ points }, index) => ({ index, y: atY(points.at(-1)![1]) })).toSorted((a, b) => a.y - b.y)
  const heights: number[] = []
  let lowest = -Infinity
  for (const { index, y } of wanted) {
    lowest = Math.max(y, lowest + LABEL_HEIGHT)
    heights[index] = lowest
  }
  return heights
}

function scale(log: boolean, [from, to]: [number, number], [start, end]: [number, number]): Scale {
  const read = log ? Math.log : (value: number) => value
  const span = read(to) - read(from) || 1
  return (value) => start + ((read(value) - read(from)) / span) * (end - start)
}

/** Powers of ten that enclose the values. */
function decades(least: number, most: number): number[] {
  const first = Math.floor(Math.log10(least))
  const last = Math.max(Math.ceil(Math.log10(most)), first + 1)
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
}

/** Ticks from zero, in steps of 1, 2 or 5 times a power of ten. */
function niceTicks(most: number): number[] {
  const rough = most / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough)!
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step)
}

/** Selects ticks whose labels do not overlap; the first and the last always stay. */
function withoutOverlaps(ticks: number[], at: Scale): number[] {
  const half = (tick: number) => number(tick).length * 3.5 + 4
  const last = ticks.at(-1)!
  const chosen: number[] = []
  for (const tick of ticks) {
    const previous = chosen.at(-1)
    const clears = (other: number) => Math.abs(at(tick) - at(other)) >= half(tick) + half(other)
    if ((previous === undefined || clears(previous)) && (tick === last || clears(last))) chosen.push(tick)
  }
  return chosen
}

const number = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
const round = (value: number): number => Math.round(value * 10) / 10
const escaped = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

function rule(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`
}

function text(x: number, y: number, content: string, kind: string, anchor = 'start'): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escaped(content)}</text>`
}
