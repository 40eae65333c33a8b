// Generated from docs/openapi.json. Run "npm run sdk" after a change of the document.

/** Operations that accept an idempotency key. */
export const ACCEPT_IDEMPOTENCY_KEY: ReadonlySet<string> = new Set(['POST /api/posts'])
