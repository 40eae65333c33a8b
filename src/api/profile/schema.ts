import { Type } from '@sinclair/typebox'
import { MAX_PASSWORD_LENGTH } from '../../domain/users/passwords.ts'
import { AVATAR_TYPES } from '../../domain/media/storage-keys.ts'
import { EndsApiKeys } from '../auth/schema.ts'
import { HOLD_RANGE } from '../posts/schemas/fields.ts'
import { PersonName, uploadBody } from '../shared/schemas/common.ts'

const MAX_URL_LENGTH = 2_048
const MAX_TIMEZONE_LENGTH = 100

export const AvatarUploadBody = uploadBody(AVATAR_TYPES, 'image/png')

export const AvatarUpload = Type.Object({
  uploadUrl: Type.String({
    description:
      'Send the image here with PUT within 15 minutes, with exactly this Content-Type and without an Authorization header.',
  }),
  storageUrl: Type.String({ description: 'Pass it to update-avatar after the upload' }),
  contentType: Type.String({ examples: ['image/png'] }),
})

export const UpdateAvatarBody = Type.Object({
  imageUrl: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description: 'The exact `storageUrl` of your upload',
  }),
})

export const UpdatedAvatar = Type.Object({ imageUrl: Type.String() })

export const ChangeTimezoneBody = Type.Object({
  timezone: Type.String({ minLength: 1, maxLength: MAX_TIMEZONE_LENGTH, examples: ['Europe/Berlin'] }),
})

export const ChangeHoldBody = Type.Object({
  holdSeconds: Type.Integer({ ...HOLD_RANGE, examples: [30] }),
})

export const ChangeNameBody = Type.Object({
  name: PersonName,
})

export const ChangePasswordBody = Type.Object(
  {
    currentPassword: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
    newPassword: Type.String({ maxLength: MAX_PASSWORD_LENGTH, description: 'At least 8 characters' }),
    endsApiKeys: EndsApiKeys,
  },
  { title: 'ChangePassword' },
)
