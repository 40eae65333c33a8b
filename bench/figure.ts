/** One line of the result. A ratio compares ours with a baseline of the same run; more is better unless the unit is a cost. */
export interface Figure {
  group: string
  name: string
  ours: number
  baseline: number | null
  unit: string
  /** ours / baseline */
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
  aim?: Aim
  details?: Record<string, number | string | null>
}

export function figure({ group, name, unit, ours, baseline, aim, details = {} }: Measured): Figure {
  const ratio = baseline === undefined ? null : ours / baseline
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
