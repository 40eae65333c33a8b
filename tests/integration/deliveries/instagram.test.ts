import { startMeta } from '../../../sandbox/platforms/meta.ts'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { containerDeliveries } from './container-suite.ts'

containerDeliveries({
  platform: 'instagram',
  connects: 'facebook',
  createPath: 'media',
  publishPath: 'media_publish',
  async start() {
    const { facebook, instagram, instagramStore, createPerson, createApp, stop } = await startMeta()
    return {
      control: instagram.control,
      store: instagramStore,
      stop,
      env(publicUrl) {
        const { id, secret } = createApp({ name: 'postonce', redirectUris: [buildCallbackUrl(publicUrl, 'facebook')] })
        return {
          FACEBOOK_APP_ID: id,
          FACEBOOK_APP_SECRET: secret,
          FACEBOOK_DIALOG_URL: facebook.url,
          FACEBOOK_GRAPH_URL: facebook.url,
          INSTAGRAM_GRAPH_URL: instagram.url,
        }
      },
      newAccount(username) {
        const { person, pages } = createPerson({ name: username, pages: [{ name: username, instagram: { username } }] })
        return { account: username, accountId: pages[0]!.instagramId!, consentId: person.id }
      },
    }
  },
})
