import { toNetwork } from '../../domain/shared/client-address.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { normalizeEmail } from '../../domain/users/user.ts'
import type { LoginFailure, Metrics } from '../../telemetry/metrics.ts'
import type { Pseudonyms } from '../../security/pseudonyms.ts'
import type { Logger } from '../../logger.ts'
import type { LoginLimit } from '../../store/users/login-throttle.ts'

interface LoginClient {
  email: string
  ipAddress: string
}

interface LoginEventsDeps {
  logger: Logger
  metrics: Metrics
  pseudonyms: Pseudonyms
}

/** Records failed logins in the log and the metrics, without the email address or the client's address. */
export function createLoginEvents({ logger, metrics, pseudonyms }: LoginEventsDeps) {
  const toLogFields = ({ email, ipAddress }: LoginClient) => ({
    account: pseudonyms('account', normalizeEmail(email)),
    network: pseudonyms('network', toNetwork(ipAddress)),
  })

  return {
    failed(client: LoginClient, reason: LoginFailure): void {
      metrics.loginFailed(reason)
      logger.info({ ...toLogFields(client), reason }, 'login failed')
    },

    /** Records that a failure reached a limit or extended the delay of an account. */
    throttled(client: LoginClient, limit: LoginLimit, waitMs: number): void {
      metrics.loginThrottled(limit)
      logger.warn({ ...toLogFields(client), limit, waitSeconds: Math.ceil(waitMs / SECOND) }, 'logins throttled')
    },
  }
}

export type LoginEvents = ReturnType<typeof createLoginEvents>
