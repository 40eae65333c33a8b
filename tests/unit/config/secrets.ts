/** The settings without a default. */
export const CONFIG_SECRETS = {
  S3_SECRET_ACCESS_KEY: 'secret',
  JWT_SECRET: 'j'.repeat(32),
  REFRESH_TOKEN_SECRET: 'r'.repeat(32),
  OAUTH_STATE_SECRET: 'o'.repeat(32),
  TOKEN_ENCRYPTION_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
}
