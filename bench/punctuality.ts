/** A visible call that should arrive with this id at this time, milliseconds since the epoch. */
export interface Due {
  id: string
  dueAt: number
}

export interface Punctuality {
  /** Milliseconds from the due time to the first arrival, for every call that arrived, in the order of `due`. */
  late: number[]
  early: number
  twice: number
  lost: number
}

export function judgePunctuality(due: Due[], arrivalsOf: (id: string) => number[]): Punctuality {
  const arrivals = due.map(({ id, dueAt }) => arrivalsOf(id).map((at) => at - dueAt))
  const late = arrivals.filter((times) => times.length > 0).map((times) => Math.min(...times))
  return {
    late,
    early: late.filter((ms) => ms < 0).length,
    twice: arrivals.filter((times) => times.length > 1).length,
    lost: arrivals.filter((times) => times.length === 0).length,
  }
}

/** @throws when a call was early, duplicated or lost, since the lateness of the others is meaningless then */
export function assertFlawless(what: string, { early, twice, lost }: Punctuality): void {
  if (early + twice + lost > 0) {
    throw new Error(
      `${what}: this run is void: ${early} were early, ${twice} were sent twice and ${lost} were never sent`,
    )
  }
}
