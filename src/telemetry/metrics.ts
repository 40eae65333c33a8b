import { getHeapStatistics } from 'node:v8'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { FailureCode } from '../domain/posts/failure.ts'
import { MAIL_FAILURES } from '../domain/notifications/mails.ts'
import { PLATFORMS, type Platform } from '../domain/shared/platforms.ts'
import type { Post } from '../domain/posts/post.ts'
import { SECOND } from '../domain/shared/times.ts'
import { DISABLED_REASONS, type DisabledReason } from '../domain/webhooks/webhooks.ts'
import { BACKGROUND_WORK, type BackgroundWork } from '../workflows/contract/background-work.ts'

const LATENESS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600]
const CALL_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** The last bound is the time after which a delivery is given up. */
const AGE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600, 21_600, 86_400, 259_200]
const WAIT_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 120]

const CALL_OUTCOMES = ['accepted', 'refused', 'unknown'] as const
const DELIVERY_OUTCOMES = ['accepted', 'failed', 'deferred', 'unknown'] as const
const FINDINGS = ['unacknowledged', 'overdue', 'stalled'] as const
const PUSH_OUTCOMES = ['sent', 'dead', 'refused', 'later'] as const
const PAYMENT_CALL_OUTCOMES = ['answered', 'refused', 'failed'] as const
const QUOTA_PURPOSES = ['publishing', 'counting'] as const
const METRICS_OUTCOMES = ['saved', 'deleted', 'skipped', 'failed'] as const
const MAIL_OUTCOMES = ['sent', 'later', ...MAIL_FAILURES] as const
const WEBHOOK_OUTCOMES = ['delivered', 'failed'] as const
const LOGIN_FAILURES = ['unknown_address', 'wrong_password', 'disabled', 'throttled'] as const
const LOGIN_LIMITS = ['device', 'account-address', 'address', 'account'] as const
const SERVERS = ['mongodb', 'temporal'] as const
const SOCKET_TRANSPORTS = ['plain', 'websocket', 'polling'] as const
const SOCKET_ENDINGS = [
  ...(['unauthorized', 'silent', 'expired', 'disabled', 'changed', 'malformed', 'flooding', 'surplus'] as const),
  ...(['slow', 'gap', 'stopping', 'unavailable'] as const),
]

export type CallOutcome = (typeof CALL_OUTCOMES)[number]
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]
export type SweepFinding = (typeof FINDINGS)[number]
export type SocketTransport = (typeof SOCKET_TRANSPORTS)[number]
/** Why the service closed the socket of a client. */
export type SocketEndReason = (typeof SOCKET_ENDINGS)[number]
export type PushOutcomeKind = (typeof PUSH_OUTCOMES)[number]
/** `refused`: a repeated call would be refused, too. */
export type PaymentCallOutcome = (typeof PAYMENT_CALL_OUTCOMES)[number]
/** `later`: the mail server did not accept the mail, which is retried. */
export type MailOutcome = (typeof MAIL_OUTCOMES)[number]
export type LoginFailure = (typeof LOGIN_FAILURES)[number]
export type LoginLimit = (typeof LOGIN_LIMITS)[number]
export type ProbedServer = (typeof SERVERS)[number]

/**
 * The metrics of this process for Prometheus. Labels come from closed lists (platforms, outcomes, route patterns, encryption keys). They
 * never contain ids, or texts of users or platforms.
 */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const sources = new Set<() => Promise<string>>()

  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `postonce_${name}`, help, labelNames, registers })
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: `postonce_${name}`, help, labelNames, buckets, registers })
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name: `postonce_${name}`, help, labelNames, registers })

  const requests = histogram(
    'http_request_duration_seconds',
    'Duration of API requests by route pattern, method and status class',
    ['method', 'route', 'status'],
    REQUEST_SECONDS,
  )
  const lateness = histogram(
    'publish_lateness_seconds',
    'Delay from the due time of a post to the start of its first visible call',
    ['platform', 'timing'],
    LATENESS_SECONDS,
  )
  const acceptances = histogram(
    'acceptance_lateness_seconds',
    'Delay from the due time of a post to the acceptance of its first visible call',
    ['platform', 'timing'],
    LATENESS_SECONDS,
  )
  const calls = counter('publish_calls_total', 'Visible calls by outcome', ['platform', 'outcome'])
  const deliveries = counter('deliveries_total', 'Recorded deliveries by outcome', ['platform', 'outcome'])
  const failures = counter('delivery_failures_total', 'Failed deliveries by reason', ['platform', 'code'])
  const reconciles = counter('reconciles_total', 'Reconciles of calls with an unknown outcome, by result', [
    'platform',
    'result',
  ])
  const platformErrors = counter('platform_errors_total', 'Platform errors by step and class', [
    'platform',
    'step',
    'class',
  ])
  const platformCalls = histogram(
    'platform_step_seconds',
    'Duration of the steps of a delivery at the platform',
    ['platform', 'step'],
    CALL_SECONDS,
  )
  const queueWait = histogram(
    'queue_wait_seconds',
    'Time from the scheduling of an activity to its start in a worker',
    ['activity'],
    WAIT_SECONDS,
  )
  const sendWait = histogram(
    'send_wait_seconds',
    'Wait for capacity among the concurrent calls to a server',
    ['platform'],
    WAIT_SECONDS,
  )
  const rejectedCalls = counter(
    'calls_rejected_total',
    'Calls rejected because the queue was full or the server failed repeatedly',
    ['platform', 'reason'],
  )
  const running = gauge('activities_running', 'Activities that are running', ['activity'])
  const armed = gauge('deliveries_armed', 'Deliveries that wait in this process until they are due', [])
  const sweeps = counter('sweeps_total', 'Runs of the sweeper', [])
  const lastSweep = gauge('last_sweep_timestamp_seconds', 'Time of the last sweeper run in this process', [])
  const findings = counter('sweep_findings_total', 'Deliveries that the sweeper restarted, by reason', ['finding'])
  const pushes = counter('push_messages_total', 'Push messages to devices by outcome', ['outcome'])
  const pushFailures = counter('push_failures_total', 'Notifications that did not reach every device', [])
  const mails = counter('mails_total', 'Mails by outcome', ['outcome'])
  const webhookAttempts = histogram(
    'webhook_attempt_seconds',
    'Duration of attempts to deliver events to webhooks, by outcome',
    ['outcome'],
    CALL_SECONDS,
  )
  const webhookAge = histogram('webhook_age_seconds', 'Age of events when a webhook got them', [], AGE_SECONDS)
  const webhooksDisabled = counter('webhooks_disabled_total', 'Webhooks that the service disabled, by reason', [
    'reason',
  ])
  const paymentCalls = counter('payment_calls_total', 'Calls to the payment processor by outcome', ['outcome'])
  const collected = counter('metrics_collected_total', 'Posts whose metrics were collected, by outcome', [
    'platform',
    'outcome',
  ])
  const quotaRefusals = counter('quota_refusals_total', 'Calls not made because their quota was used up, by purpose', [
    'platform',
    'purpose',
  ])
  const quotaPauses = counter('quota_pauses_total', 'Pauses of calls that this process started', ['platform'])
  const quotaLeft = gauge('quota_left_ratio', 'Share of the calls of the application that are left, by limit', [
    'platform',
    'span',
  ])
  const sweptWork = counter('sweep_work_total', 'Background work that the sweeper started, by workflow', ['work'])
  const terminated = counter(
    'stuck_workflows_terminated_total',
    'Workflows terminated because their tasks failed repeatedly',
    ['workflow'],
  )
  const queuedStarts = gauge('starts_queued', 'New posts whose workflows are not started yet', [])
  const sealedSecrets = gauge('sealed_secrets', 'Stored secrets by the encryption key that they need', ['key'])
  const up = gauge('server_up', '1 when the server answered the last probe in time', ['server'])
  const probeSeconds = gauge('server_probe_seconds', 'Duration of the last probe', ['server'])
  // The default metrics report the used heap, but not its limit.
  gauge('heap_limit_bytes', 'The heap size at which the process runs out of memory', []).set(
    getHeapStatistics().heap_size_limit,
  )
  const sockets = gauge('sockets_open', 'Open notification sockets', ['transport'])
  const socketEnds = counter('sockets_ended_total', 'Sockets that the service closed, by reason', ['reason'])

  const loginFailures = counter('login_failures_total', 'Failed logins and password checks by reason', ['reason'])
  const loginLimits = counter('login_limits_total', 'Failed logins that reached a limit or started a delay, by limit', [
    'limit',
  ])

  // A counter starts at 0, because Prometheus sees no increase in a series that starts at 1.
  for (const platform of PLATFORMS) {
    for (const outcome of CALL_OUTCOMES) calls.inc({ platform, outcome }, 0)
    for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ platform, outcome }, 0)
    for (const outcome of METRICS_OUTCOMES) collected.inc({ platform, outcome }, 0)
    for (const purpose of QUOTA_PURPOSES) quotaRefusals.inc({ platform, purpose }, 0)
    quotaPauses.inc({ platform }, 0)
  }
  for (const finding of FINDINGS) findings.inc({ finding }, 0)
  for (const transport of SOCKET_TRANSPORTS) sockets.set({ transport }, 0)
  for (const reason of SOCKET_ENDINGS) socketEnds.inc({ reason }, 0)
  for (const outcome of PUSH_OUTCOMES) pushes.inc({ outcome }, 0)
  for (const outcome of MAIL_OUTCOMES) mails.inc({ outcome }, 0)
  for (const outcome of WEBHOOK_OUTCOMES) webhookAttempts.zero({ outcome })
  for (const reason of DISABLED_REASONS) webhooksDisabled.inc({ reason }, 0)
  for (const work of Object.keys(BACKGROUND_WORK)) sweptWork.inc({ work }, 0)
  for (const workflow of ['publishPost', ...Object.keys(BACKGROUND_WORK)]) terminated.inc({ workflow }, 0)
  for (const reason of LOGIN_FAILURES) loginFailures.inc({ reason }, 0)
  for (const limit of LOGIN_LIMITS) loginLimits.inc({ limit }, 0)
  for (const outcome of PAYMENT_CALL_OUTCOMES) paymentCalls.inc({ outcome }, 0)

  return {
    /** @param route the route pattern of the request */
    requestEnded: (method: string, route: string, statusCode: number, seconds: number): void =>
      requests.observe({ method, route, status: `${Math.floor(statusCode / 100)}xx` }, seconds),

    /** The first visible call of a delivery starts. */
    publishStarted(platform: Platform, post: Instants, at: Date): void {
      lateness.observe({ platform, timing: toTiming(post) }, secondsSince(post, at))
    },
    /** @param first the post and the time of the answer; null for later calls of a delivery */
    publishEnded(platform: Platform, outcome: CallOutcome, first: { post: Instants; at: Date } | null): void {
      calls.inc({ platform, outcome })
      if (first && outcome === 'accepted') {
        acceptances.observe({ platform, timing: toTiming(first.post) }, secondsSince(first.post, first.at))
      }
    },
    /** @param code the reason of a failed delivery */
    deliveryRecorded(platform: Platform, outcome: DeliveryOutcome, code: FailureCode | null = null): void {
      deliveries.inc({ platform, outcome })
      if (outcome === 'failed') failures.inc({ platform, code: code ?? 'INTERNAL' })
    },

    reconciled: (platform: Platform, result: 'found' | 'absent' | 'undecidable' | 'in-flight' | 'error'): void =>
      reconciles.inc({ platform, result }),
    platformStep: (platform: Platform, step: PlatformStep, seconds: number): void =>
      platformCalls.observe({ platform, step }, seconds),
    platformFailed: (platform: Platform, step: PlatformStep, errorClass: string): void =>
      platformErrors.inc({ platform, step, class: errorClass }),

    activityStarted(activity: string, waitedMs: number | null): void {
      if (waitedMs !== null) queueWait.observe({ activity }, Math.max(0, waitedMs) / SECOND)
      running.inc({ activity })
    },
    activityEnded: (activity: string): void => running.dec({ activity }),
    callDequeued: (platform: Platform, waitedMs: number): void => sendWait.observe({ platform }, waitedMs / SECOND),
    callRejected: (platform: Platform, reason: 'full' | 'failing'): void => rejectedCalls.inc({ platform, reason }),
    deliveryArmed: (): void => armed.inc(),
    deliveryDisarmed: (): void => armed.dec(),

    startsQueued: (count: number): void => queuedStarts.set(count),
    sweepEnded(found: SweepFinding[]): void {
      sweeps.inc()
      lastSweep.setToCurrentTime()
      for (const finding of found) findings.inc({ finding })
    },
    pushAttempted: (outcome: PushOutcomeKind): void => pushes.inc({ outcome }),
    mailAttempted: (outcome: MailOutcome): void => mails.inc({ outcome }),
    webhookAttempted: (outcome: (typeof WEBHOOK_OUTCOMES)[number], seconds: number): void =>
      webhookAttempts.observe({ outcome }, seconds),
    /** @param ageSeconds the time since the event occurred */
    webhookDelivered: (ageSeconds: number): void => webhookAge.observe(ageSeconds),
    webhookDisabled: (reason: DisabledReason): void => webhooksDisabled.inc({ reason }),
    metricsCollected(platform: Platform, counts: Record<(typeof METRICS_OUTCOMES)[number], number>): void {
      for (const outcome of METRICS_OUTCOMES) collected.inc({ platform, outcome }, counts[outcome])
    },
    quotaRefused: (platform: Platform, purpose: (typeof QUOTA_PURPOSES)[number]): void =>
      quotaRefusals.inc({ platform, purpose }),
    quotaPaused: (platform: Platform): void => quotaPauses.inc({ platform }),
    quotaLeft: (platform: Platform, span: string, ratio: number): void => quotaLeft.set({ platform, span }, ratio),
    backlogClaimed: (work: BackgroundWork, count: number): void => sweptWork.inc({ work }, count),
    stuckWorkflowTerminated: (workflow: string): void => terminated.inc({ workflow }),
    paymentCallEnded: (outcome: PaymentCallOutcome): void => paymentCalls.inc({ outcome }),
    loginFailed: (reason: LoginFailure): void => loginFailures.inc({ reason }),
    loginThrottled: (limit: LoginLimit): void => loginLimits.inc({ limit }),
    pushFailed: (): void => pushFailures.inc(),
    /** @param counts the number of secrets by the id of their key */
    secretsCounted(counts: Map<string, number>): void {
      sealedSecrets.reset()
      for (const [key, count] of counts) sealedSecrets.set({ key }, count)
    },
    serverProbed(server: ProbedServer, isUp: boolean, seconds: number): void {
      up.set({ server }, isUp ? 1 : 0)
      probeSeconds.set({ server }, seconds)
    },

    socketOpened: (transport: SocketTransport): void => sockets.inc({ transport }),
    socketClosed: (transport: SocketTransport): void => sockets.dec({ transport }),
    socketEnded: (reason: SocketEndReason): void => socketEnds.inc({ reason }),

    /** Adds metrics of another exporter in the Prometheus text format. */
    addSource: (read: () => Promise<string>): void => void sources.add(read),
    async text(): Promise<string> {
      // A failing source must not hide the other metrics.
      const texts = await Promise.all([registry.metrics(), ...[...sources].map((read) => read().catch(() => ''))])
      return texts.filter((text) => text !== '').join('\n')
    },
    contentType: registry.contentType,
  }
}

export type Metrics = ReturnType<typeof createMetrics>

export type PlatformStep = 'prepare' | 'publish' | 'reconcile'

type Instants = Pick<Post, 'scheduledAt' | 'dueAt'>

/** Immediate posts are measured from their creation, because they have no scheduled time. */
function toTiming({ scheduledAt }: Instants): 'scheduled' | 'immediate' {
  return scheduledAt ? 'scheduled' : 'immediate'
}

function secondsSince({ scheduledAt, dueAt }: Instants, at: Date): number {
  const instant = scheduledAt ?? dueAt ?? at
  return (at.getTime() - instant.getTime()) / SECOND
}
