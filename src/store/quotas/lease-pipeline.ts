import { DAY } from '../../domain/shared/times.ts'
import { isCurrentReport, toCounterMs, type LeaseRequest } from '../../domain/quotas/lease.ts'
import { COUNTING_SHARE, type CallLimit } from '../../domain/quotas/limits.ts'

export type Expression = string | number | boolean | null | Date | Expression[] | { [operator: string]: Expression }

interface LeaseOptions {
  /** Identifies the lease among those of its lessee. */
  lease: number
  /** The expression for the current time. */
  now: Expression
}

/** No limit of a platform has a longer window, whatever a server states. */
const LONGEST_PAUSE_MS = DAY

/**
 * Builds the update that grants the tokens of one lease. A token counts until a whole window has passed since the last instant
 * at which its call can arrive. So neither a sliding window nor one that is aligned to the clock contains more calls than its
 * limit.
 */
export function leasePipeline(request: LeaseRequest, { lease, now }: LeaseOptions) {
  const { lessee, limits, arrivalMs, outstanding, pauseMs = 0 } = request
  const pauseEnd = pauseMs > 0 ? [later(Math.min(pauseMs, LONGEST_PAUSE_MS))] : []
  const longestMs = Math.max(0, ...limits.map(({ windowMs }) => windowMs + toCounterMs(windowMs)))
  return [
    { $set: { leasedAt: now } },
    {
      $set: {
        pausedUntil: { $max: ['$pausedUntil', ...pauseEnd] },
        lessees: keep('$lessees', {
          $and: [{ $ne: ['$$this.lessee', lessee] }, { $gt: ['$$this.until', '$leasedAt'] }],
        }),
        ...spanFields(limits, 'counted', ({ span }) =>
          keep(`$spans.${span}.counted`, { $gt: ['$$this.until', '$leasedAt'] }),
        ),
      },
    },
    { $set: Object.assign({}, ...limits.map((limit) => applyReport(request, limit))) as Record<string, Expression> },
    { $set: spanFields(limits, 'free', computeFreeTokens) },
    { $set: { publishing: grantPublishing(request) } },
    { $set: { counting: grantCounting(request) } },
    { $set: { tokens: { $add: ['$publishing', '$counting'] } } },
    {
      $set: {
        ...spanFields(limits, 'counted', (limit) => countTokens(limit, arrivalMs)),
        ...spanFields(limits, 'report', spendReport),
        lessees: {
          $concatArrays: [
            '$lessees',
            [
              {
                lessee,
                lease,
                publishing: '$publishing',
                counting: '$counting',
                underway: { $add: [outstanding, '$tokens'] },
                until: later(arrivalMs),
              },
            ],
          ],
        },
        removeAt: { $max: ['$removeAt', '$pausedUntil', later(arrivalMs + longestMs)] },
      },
    },
    { $unset: ['publishing', 'counting', 'tokens', ...limits.map(({ span }) => `spans.${span}.free`)] },
  ]
}

/** Returns a field of every span. */
function spanFields(limits: readonly CallLimit[], field: string, toValue: (limit: CallLimit) => Expression) {
  return Object.fromEntries(limits.map((limit) => [`spans.${limit.span}.${field}`, toValue(limit)]))
}

function later(ms: number): Expression {
  return { $add: ['$leasedAt', ms] }
}

function keep(path: string, cond: Expression): Expression {
  return { $filter: { input: { $ifNull: [path, []] }, cond } }
}

/** A report counts from when it was made. The calls that may have been underway then are subtracted from it. */
function applyReport({ reports, outstanding }: LeaseRequest, { span }: CallLimit): Record<string, Expression> {
  const path = `spans.${span}.report`
  const stored: Expression = { $cond: [{ $gt: [`$${path}.until`, '$leasedAt'] }, `$${path}`, null] }
  const report = reports.find((one) => one.span === span && isCurrentReport(one) && one.ageMs < one.resetsInMs)
  if (!report) return { [path]: stored }
  const at = later(-report.ageMs)
  const reported: Expression = {
    left: { $subtract: [report.remaining, { $add: [outstanding, { $sum: '$lessees.underway' }] }] },
    until: { $add: [at, Math.min(report.resetsInMs, LONGEST_PAUSE_MS)] },
    at,
  }
  return {
    [path]: { $cond: [{ $gt: [`$${path}.at`, at] }, stored, reported] },
    [`spans.${span}.limit`]: report.limit,
  }
}

function getLimit({ span, limit }: CallLimit): Expression {
  return { $ifNull: [`$spans.${span}.limit`, limit] }
}

function computeFreeTokens(limit: CallLimit): Expression {
  const path = `$spans.${limit.span}`
  const uncounted: Expression = { $subtract: [getLimit(limit), { $sum: `${path}.counted.tokens` }] }
  return { $max: [0, { $min: [uncounted, `${path}.report.left`] }] }
}

function unlessPaused(tokens: Expression): Expression {
  return { $cond: [{ $gt: ['$pausedUntil', '$leasedAt'] }, 0, tokens] }
}

function grantPublishing({ publishing, limits }: LeaseRequest): Expression {
  return unlessPaused({ $min: [publishing, ...limits.map(({ span }) => `$spans.${span}.free`)] })
}

function grantCounting({ counting, limits }: LeaseRequest): Expression {
  const unreserved = limits.map((limit): Expression => {
    const shared: Expression = { $floor: { $multiply: [getLimit(limit), COUNTING_SHARE] } }
    const reserved: Expression = { $subtract: [getLimit(limit), shared] }
    return { $subtract: [`$spans.${limit.span}.free`, { $add: ['$publishing', reserved] }] }
  })
  return unlessPaused({ $max: [0, { $min: [counting, ...unreserved] }] })
}

/** Adds the granted tokens to the counter that ends a window after the last instant at which their calls can arrive. */
function countTokens({ span, windowMs }: CallLimit, arrivalMs: number): Expression {
  const path = `$spans.${span}.counted`
  const counterMs = toCounterMs(windowMs)
  const counters: Expression = { $ceil: { $divide: [{ $toLong: later(arrivalMs + windowMs) }, counterMs] } }
  const until: Expression = { $toDate: { $toLong: { $multiply: [counters, counterMs] } } }
  const others = { $filter: { input: path, cond: { $ne: ['$$this.until', '$$until'] } } }
  const same = { $filter: { input: path, cond: { $eq: ['$$this.until', '$$until'] } } }
  const sum: Expression = {
    $reduce: { input: same, initialValue: '$tokens', in: { $add: ['$$value', '$$this.tokens'] } },
  }
  return {
    $let: {
      vars: { until },
      in: {
        $cond: [{ $gt: ['$tokens', 0] }, { $concatArrays: [others, [{ until: '$$until', tokens: sum }]] }, path],
      },
    },
  }
}

function spendReport({ span }: CallLimit): Expression {
  const path = `$spans.${span}.report`
  const spent: Expression = { $mergeObjects: [path, { left: { $subtract: [`${path}.left`, '$tokens'] } }] }
  return { $cond: [{ $gt: [`${path}.until`, null] }, spent, null] }
}
