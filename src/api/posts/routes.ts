import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Context } from '../../context.ts'
import { createRoutes } from './create-routes.ts'
import { editRoutes } from './edit-routes.ts'
import { linkRoutes } from './link-routes.ts'
import { lifecycleRoutes } from './lifecycle-routes.ts'
import { mediaRoutes } from './media-routes.ts'
import { readRoutes } from './read-routes.ts'

/** The posts of the signed-in user. */
export const postsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  await app.register(createRoutes, { context })
  await app.register(linkRoutes, { context })
  await app.register(readRoutes, { context })
  await app.register(editRoutes, { context })
  await app.register(lifecycleRoutes, { context })
  await app.register(mediaRoutes, { context })
}
