import { intervalOf, median, rounded } from './stats.ts'

/** `quick` shows in a few minutes that every group works. Its single round decides nothing. */
export type Scale = 'full' | 'quick'

const MOST_ROUNDS: Record<Scale, number> = { full: 10, quick: 1 }

/** The measured values of one side of a comparison in one round, by name. */
export type Sample = Record<string, number>

/** A limit of the ratio, of our number, or of how much ours exceeds the baseline. */
export type Bound = { of: 'ratio' | 'ours' | 'difference' } & ({ atMost: number } | { atLeast: number })

export type Verdict = 'met' | 'missed' | 'undecided'

/**
 * A row of the results: one quantity of two sides that were measured in alternating rounds, or of ours alone.
 *
 * Both numbers are medians over the rounds, and the ratio is the quotient of exactly these two numbers. The interval is that of the
 * bounded quantity over the rounds, with a confidence of 95 % (`intervalOf`). A round compares both sides under the same load of the
 * machine, so the interval of a ratio is that of the ratios of the rounds. The bound is met or missed only when it is outside of the
 * interval.
 */
export interface Figure {
  name: string
  unit: string
  ours: number
  baseline: number | null
  ratio: number | null
  interval: [number, number] | null
  bound: Bound | null
  verdict: Verdict | null
  rounds: { ours: number[]; baseline: number[] | null }
}

interface Measured {
  name: string
  unit: string
  ours: number[]
  baseline?: number[]
  bound?: Bound
}

export function figure({ name, unit, bound, ...measured }: Measured): Figure {
  const rounds = { ours: measured.ours.map(rounded), baseline: measured.baseline?.map(rounded) ?? null }
  const ours = median(rounds.ours)
  const baseline = rounds.baseline && median(rounds.baseline)
  const of = bound?.of ?? (baseline === null ? 'ours' : 'ratio')
  const whole = QUANTITIES[of](ours, baseline ?? 0)
  const found = intervalOf(rounds.ours.map((value, round) => QUANTITIES[of](value, rounds.baseline?.[round] ?? 0)))
  // The quotient of the medians differs from the median of the quotients and can leave its interval.
  const interval: Figure['interval'] = found && [Math.min(found[0], whole), Math.max(found[1], whole)]
  return {
    name,
    unit,
    ours,
    baseline,
    ratio: baseline === null ? null : ours / baseline,
    interval,
    bound: bound ?? null,
    verdict: bound ? judge(bound, interval) : null,
    rounds,
  }
}

const QUANTITIES: Record<Bound['of'], (ours: number, baseline: number) => number> = {
  ratio: (ours, baseline) => ours / baseline,
  ours: (ours) => ours,
  difference: (ours, baseline) => ours - baseline,
}

function judge(bound: Bound, interval: Figure['interval']): Verdict {
  if (interval === null) return 'undecided'
  const [low, high] = interval
  const limit = 'atMost' in bound ? bound.atMost : bound.atLeast
  if (low <= limit && limit <= high) return 'undecided'
  return 'atMost' in bound === high < limit ? 'met' : 'missed'
}

interface Quantity {
  name: string
  unit: string
  /** The name of its values in the samples. What a round did not measure counts as zero. */
  value: string
  bound?: Bound | undefined
}

/** Returns the figure of a quantity of our rounds, compared with that of a baseline if there is one. */
export function compare({ name, unit, value, bound }: Quantity, ours: Sample[], baseline?: Sample[]): Figure {
  const valuesOf = (samples: Sample[]) => samples.map((sample) => sample[value] ?? 0)
  const values = { ours: valuesOf(ours), ...(baseline && { baseline: valuesOf(baseline) }) }
  return figure({ name, unit, ...values, ...(bound && { bound }) })
}

/**
 * Measures all sides in each round, in reversed order every other time, so that none always runs right after another. It ends early
 * when every figure has an interval that decides its bound, which takes six rounds at least.
 *
 * Because every round may decide, a verdict of ten rounds is wrong with a probability of 5.5 % instead of 5 %.
 */
export async function measureRounds<Side extends string>(
  sides: Record<Side, () => Promise<Sample>>,
  scale: Scale,
  toFigures: (samples: Record<Side, Sample[]>) => Figure[],
): Promise<Figure[]> {
  const names = Object.keys(sides) as Side[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Side, Sample[]>
  for (let round = 0; round < MOST_ROUNDS[scale]; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples[name].push(await sides[name]())
    if (toFigures(samples).every(({ interval, verdict }) => interval !== null && verdict !== 'undecided')) break
  }
  return toFigures(samples)
}
