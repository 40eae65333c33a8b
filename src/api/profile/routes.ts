import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { changeName } from '../../commands/users/change-name.ts'
import { changePassword } from '../../commands/users/change-password.ts'
import { changeTimezone } from '../../commands/users/change-timezone.ts'
import { deleteAvatar } from '../../commands/media/delete-avatar.ts'
import { requestAvatarUpload } from '../../commands/media/request-avatar-upload.ts'
import { updateAvatar } from '../../commands/media/update-avatar.ts'
import type { Context } from '../../context.ts'
import { getClientAddress } from '../shared/client-address.ts'
import { createValidationErrorHandler } from '../shared/errors.ts'
import { getSessionId } from '../shared/identity.ts'
import { operation } from '../openapi/operation.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import {
  AvatarUpload,
  AvatarUploadBody,
  ChangeHoldBody,
  ChangeNameBody,
  ChangePasswordBody,
  ChangeTimezoneBody,
  UpdateAvatarBody,
  UpdatedAvatar,
} from './schema.ts'

/** Profile of the signed-in user. */
export const profileRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.post(
    '/upload-url',
    {
      schema: {
        ...operation('profile', 'requestAvatarUpload', 'Request an avatar upload', {
          keyScope: 'refused',
          description: 'Send the image to `uploadUrl` with PUT, then pass `storageUrl` to update-avatar.',
          errors: ['INVALID_MEDIA_TYPE', 'UPLOAD_QUOTA_REACHED'],
        }),
        body: AvatarUploadBody,
        response: { 200: success(AvatarUpload), ...errorResponses },
      },
    },
    async ({ body, user }) =>
      ok('Upload URL created successfully', await requestAvatarUpload(context, { userId: user.userId, ...body })),
  )

  app.put(
    '/update-avatar',
    {
      schema: {
        ...operation('profile', 'updateAvatar', 'Set an uploaded image as the avatar', {
          keyScope: 'refused',
          description: 'Deletes the previously uploaded avatar.',
        }),
        body: UpdateAvatarBody,
        response: { 200: success(UpdatedAvatar), ...errorResponses },
      },
    },
    async ({ body: { imageUrl }, user }) => {
      await updateAvatar(context, { userId: user.userId, imageUrl })
      return ok('Avatar updated', { imageUrl })
    },
  )

  app.delete(
    '/delete-avatar',
    {
      schema: {
        ...operation('profile', 'deleteAvatar', 'Delete the avatar and use the generated one', { keyScope: 'refused' }),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user }) => {
      await deleteAvatar(context, user.userId)
      return acknowledged('Avatar deleted')
    },
  )

  app.put(
    '/change-timezone',
    {
      schema: {
        ...operation('profile', 'changeTimezone', 'Change the timezone', {
          keyScope: 'refused',
          description: 'Scheduled posts keep their instants.',
        }),
        body: ChangeTimezoneBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ body, user }) => {
      await changeTimezone(context, { userId: user.userId, ...body })
      return acknowledged('Timezone changed')
    },
  )

  app.put(
    '/change-hold',
    {
      schema: {
        ...operation('profile', 'changeHold', 'Change how long immediate posts wait', {
          keyScope: 'refused',
          description:
            'A post that is published immediately waits this long, and can be cancelled and edited meanwhile. Posts that wait already keep their times.',
        }),
        body: ChangeHoldBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ body: { holdSeconds }, user }) => {
      await context.users.setHoldSeconds(user.userId, holdSeconds)
      return acknowledged('Hold changed')
    },
  )

  app.patch(
    '/change-name',
    {
      schema: {
        ...operation('profile', 'changeName', 'Change the name', { keyScope: 'refused' }),
        body: ChangeNameBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ body, user }) => {
      await changeName(context, { userId: user.userId, ...body })
      return acknowledged('Name changed')
    },
  )

  app.patch(
    '/change-password',
    {
      schema: {
        ...operation('profile', 'changePassword', 'Change the password', {
          keyScope: 'refused',
          description: 'Ends all other sessions. Only for accounts that log in with a password.',
          errors: ['PASSWORD_NOT_SUPPORTED', 'INCORRECT_PASSWORD'],
        }),
        body: ChangePasswordBody,
        response: { 200: Acknowledged, ...errorResponses },
      },
      errorHandler: createValidationErrorHandler('Invalid password data'),
    },
    async (request) => {
      const { userId } = request.user
      const sessionId = getSessionId(request.user)
      await changePassword(context, { userId, sessionId, ipAddress: getClientAddress(request), ...request.body })
      return acknowledged('Password changed')
    },
  )
}
