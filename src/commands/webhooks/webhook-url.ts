import { validationFailed } from '../../domain/shared/service-error.ts'
import type { WebhookSender } from '../../integrations/webhooks/webhook-sender.ts'

/** @throws ServiceError VALIDATION_FAILED */
export function assertAllowedUrl(sender: WebhookSender, url: string): void {
  if (sender.isAllowed(url)) return
  const message =
    'The URL is not the https address of a public server on port 443. Enter one such as https://example.com/hooks.'
  throw validationFailed([{ path: 'url', code: 'URL_NOT_ALLOWED', message }])
}
