import { median, rounded } from './stats.ts'

/** One line of the result. A ratio compares ours with a baseline of the same run; more is better unless the unit is a cost. */
export interface Figure {
  group: string
  name: string
  ours: number
  baseline: number | null
  unit: string
  /** ours / baseline; of several rounds the median of their ratios */
  ratio: number | null
  /** What it should be, as a sentence; `met` judges it. */
  aim: string | null
  met: boolean | null
  /** What else was measured beside it. */
  details: Record<string, number | string | null>
}

export interface Aim {
  text: string
  met: (figure: { ours: number; ratio: number }) => boolean
}

interface Measured {
  group: string
  name: string
  unit: string
  ours: number
  baseline?: number
  ratio?: number
  aim?: Aim
  details?: Record<string, number | string | null>
}

/** One figure from rounds that were measured in turns: a machine that grows slower does so for both sides of a round. */
export function figureOfRounds({ ours, baseline, details, ...rest }: MeasuredRounds): Figure {
  return figure({
    ...rest,
    ours: median(ours),
    baseline: median(baseline),
    ratio: median(ours.map((value, round) => value / baseline[round]!)),
    details: {
      ...details,
      'rounds, ours': ours.map(rounded).join(' '),
      'rounds, baseline': baseline.map(rounded).join(' '),
    },
  })
}

interface MeasuredRounds extends Omit<Measured, 'ours' | 'baseline' | 'ratio'> {
  ours: number[]
  baseline: number[]
}

export function figure({ group, name, unit, ours, baseline, aim, details = {}, ...given }: Measured): Figure {
  const ratio = given.ratio ?? (baseline === undefined ? null : ours / baseline)
  return {
    group,
    name,
    ours,
    baseline: baseline ?? null,
    unit,
    ratio,
    aim: aim?.text ?? null,
    met: aim ? aim.met({ ours, ratio: ratio ?? Number.NaN }) : null,
    details,
  }
}
