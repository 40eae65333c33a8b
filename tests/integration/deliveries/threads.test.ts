import { startThreads } from '../../../sandbox/platforms/threads.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { containerDeliveries } from './container-suite.ts'

containerDeliveries({
  platform: 'threads',
  connects: 'threads',
  createPath: 'threads',
  publishPath: 'threads_publish',
  async start() {
    const { url, control, store, createAccount, createApp, stop } = await startThreads()
    return {
      control,
      store,
      stop,
      env(publicUrl) {
        const { id, secret } = createApp({ name: 'postonce', redirectUris: [buildCallbackUrl(publicUrl, 'threads')] })
        return {
          THREADS_APP_ID: id,
          THREADS_APP_SECRET: secret,
          THREADS_AUTHORIZE_URL: url,
          THREADS_GRAPH_URL: url,
        }
      },
      newAccount(username) {
        const { id } = createAccount({ username })
        return { account: username, accountId: id, consentId: id }
      },
    }
  },
})
