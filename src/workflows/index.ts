/** Root of the workflow bundle: every export is a workflow type. */
export { publishPost } from './publish-post.ts'
export { renewTokens } from './renew-tokens.ts'
export { sweep } from './sweep.ts'
