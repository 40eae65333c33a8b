import { Type } from '@sinclair/typebox'
import { isWebUrl } from '../../../domain/shared/links.ts'
import type { CallOptions, Profile } from '../../contract.ts'
import { responseReader } from '../responses.ts'
import type { GraphApi } from './api.ts'

/** https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user */
const readIgUser = responseReader(
  Type.Object({
    id: Type.String({ minLength: 1 }),
    username: Type.String({ minLength: 1 }),
    name: Type.Optional(Type.String()),
    profile_picture_url: Type.Optional(Type.String()),
    biography: Type.Optional(Type.String()),
  }),
)

const FIELDS = 'id,username,name,profile_picture_url,biography'

/** Returns the profile of a professional account, read with the login of its linked page. */
export async function fetchInstagramProfile(
  api: GraphApi,
  accountId: string,
  options: CallOptions & { token: string },
): Promise<Profile> {
  const path = `/${encodeURIComponent(accountId)}`
  const { username, name, biography, ...user } = await api.get(path, { fields: FIELDS }, readIgUser, options)
  const avatar = user.profile_picture_url
  const description = biography?.trim() ?? ''
  return {
    displayName: name?.trim() || username,
    handle: username,
    avatar: isWebUrl(avatar) ? avatar : null,
    ...(description !== '' && { description }),
  }
}
