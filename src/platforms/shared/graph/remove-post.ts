import type { CallOptions, Credentials } from '../../contract.ts'
import { PlatformError } from '../../errors.ts'
import type { GraphApi } from './api.ts'
import { isMissing } from './errors.ts'
import { readCreatedId } from './responses.ts'

/**
 * Removes a published object. Succeeds when it is gone.
 * @param permission the permission that it needs
 * @throws PlatformError `permission` when the object is still there, because a missing permission looks like a missing object
 */
export async function removePost(
  api: GraphApi,
  id: string,
  { account: { accessToken: token }, permission, signal }: { account: Credentials; permission: string } & CallOptions,
): Promise<void> {
  const path = `/${encodeURIComponent(id)}`
  if (await api.remove(path, { token, signal })) return
  try {
    await api.get(path, { fields: 'id' }, readCreatedId, { token, signal })
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  const message = `${api.label} did not remove the post. Connect the account again with the permission ${permission}`
  throw new PlatformError('permission', message, { certain: true, needsReconnection: true })
}
