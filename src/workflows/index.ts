/** Root of the workflow bundle: every export is a workflow type. */
export { publishPost } from './publish-post.ts'
export { sweep } from './sweep.ts'
