import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { toErrorBody } from '../shared/errors.ts'
import { presentPost } from './present.ts'

/** Creates the error handler of routes with `If-Match`: a refusal has the post as it is now. Every scope for these routes includes reading. */
export function createConflictHandler({ posts }: Pick<Context, 'posts'>) {
  return async (error: FastifyError, { id, user, params }: FastifyRequest, reply: FastifyReply) => {
    if (!(error instanceof ServiceError) || error.code !== 'PRECONDITION_FAILED') throw error
    const post = await posts.findOwned(user.userId, (params as { postId: string }).postId)
    return reply.code(error.statusCode).send({ ...toErrorBody(error, id), ...(post && { post: presentPost(post) }) })
  }
}
