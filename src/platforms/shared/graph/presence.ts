import type { GraphApi } from './api.ts'
import { isCertainlyMissing } from './errors.ts'
import { readId } from './responses.ts'

/** Returns whether the platform shows an object to this login. @throws PlatformError when it does not say */
export async function isPresent(api: GraphApi, id: string, call: Parameters<GraphApi['get']>[3]): Promise<boolean> {
  try {
    await api.get(`/${encodeURIComponent(id)}`, { fields: 'id' }, readId, call)
    return true
  } catch (error) {
    if (isCertainlyMissing(error)) return false
    throw error
  }
}
