/** Root of the workflow bundle: every export is a workflow type. */
export { cleanUploads } from './clean-uploads.ts'
export { deliverPush } from './deliver-push.ts'
export { eraseAccount } from './erase-account.ts'
export { publishPost } from './publish-post.ts'
export { renewTokens } from './renew-tokens.ts'
export { sendMail } from './send-mail.ts'
export { sweep } from './sweep.ts'
