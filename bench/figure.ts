import { median, rounded } from './stats.ts'

/** A row of the results. The ratio compares ours with a baseline of the same run; higher is better unless the unit is a cost. */
export interface Figure {
  group: string
  name: string
  ours: number
  baseline: number | null
  unit: string
  /** `ours / baseline`; with several rounds, the median of their ratios. */
  ratio: number | null
  /** The target as text; `met` is the result. */
  aim: string | null
  met: boolean | null
  /** Additional measurements. */
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

/** Combines alternating rounds into one figure: a machine that slows down affects both sides of a round. */
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
