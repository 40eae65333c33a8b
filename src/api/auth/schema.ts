import { Type } from '@sinclair/typebox'
import { MAX_PASSWORD_LENGTH } from '../../domain/users/passwords.ts'
import { SUBSCRIPTION_PLANS, SUBSCRIPTION_STATUSES } from '../../domain/billing/subscription.ts'
import { AUTH_PROVIDERS, ROLES } from '../../domain/users/user.ts'
import { Instant, nullable, stringEnum, PersonName } from '../shared/schemas/common.ts'

export const LogInBody = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320 }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
  },
  { title: 'LogIn' },
)

export const LogOutEverywhereQuery = Type.Object({
  apiKeys: stringEnum(['true', 'false'], { default: 'false', description: 'Whether the API keys end as well' }),
})

/** Whether a new password also ends the API keys. */
export const EndsApiKeys = Type.Optional(
  Type.Boolean({ description: 'True also deletes all API keys; the programs that use them stop working' }),
)

const EmailAddress = Type.String({ format: 'email', maxLength: 320 })

/** Not refused, because a browser may know newer ones. */
const NewTimezone = Type.String({
  maxLength: 100,
  description: 'IANA timezone of the new account; without one, or with an unknown one, it has UTC',
  examples: ['Europe/Berlin'],
})

export const GoogleLoginQuery = Type.Object({ timezone: Type.Optional(NewTimezone) })

/** `domain/users/passwords.ts` checks the other rules after normalization. */
const NewPassword = Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH })

export const AddressBody = Type.Object({ email: EmailAddress }, { title: 'EmailAddress' })

export const VerifyCodeBody = Type.Object(
  { email: EmailAddress, otp: Type.String({ minLength: 1, maxLength: 20 }) },
  { title: 'VerifyCode' },
)

const VerificationToken = Type.String({
  maxLength: 100,
  description:
    'Proves the verified address; sign up with it within 15 minutes. Also set as a cookie, and accepted in the header `X-Verification-Token`.',
})

export const VerificationHeaders = Type.Object({ 'x-verification-token': Type.Optional(VerificationToken) })

export const Verified = Type.Object({ email: Type.String(), verificationToken: VerificationToken })

export const SignUpBody = Type.Object(
  {
    email: EmailAddress,
    name: PersonName,
    password: NewPassword,
    confirmPassword: Type.Optional(Type.String()),
    timezone: Type.Optional(NewTimezone),
    verificationToken: Type.Optional(VerificationToken),
    avatar: Type.Optional(nullable(Type.String({ description: 'Base64 data URL of a PNG, JPEG or WebP image' }))),
  },
  { title: 'SignUp' },
)

export const ResetPasswordBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 100 }),
    email: EmailAddress,
    password: NewPassword,
    endsApiKeys: EndsApiKeys,
  },
  { title: 'ResetPassword' },
)

export const Device = Type.Object(
  {
    tokenId: Type.String(),
    ipAddress: Type.String(),
    userAgent: Type.String(),
    createdAt: Instant,
    lastActive: Type.String({
      format: 'date-time',
      description: 'Time of the last token refresh, which clients make every few minutes',
    }),
    isCurrent: Type.Boolean({ description: 'True for the device that sent this request' }),
  },
  { title: 'Device' },
)

/** The signed-in user; `id` and `_id` are the same. */
export const UserSchema = Type.Object(
  {
    id: Type.String(),
    _id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: stringEnum(ROLES),
    avatar: nullable(Type.String()),
    timezone: Type.String(),
    holdSeconds: Type.Integer({ description: 'How long immediate posts wait before they are published' }),
    auth: Type.Object({
      provider: stringEnum(AUTH_PROVIDERS, {
        description: 'Only `email` accounts have a password that can be changed.',
      }),
    }),
    subscription: Type.Object({
      plan: stringEnum(SUBSCRIPTION_PLANS),
      status: stringEnum(SUBSCRIPTION_STATUSES),
      processorCustomerId: nullable(Type.String()),
      processorSubscriptionId: nullable(Type.String()),
      currentPeriodStart: nullable(Instant),
      currentPeriodEnd: nullable(Instant),
      cancelAtPeriodEnd: Type.Boolean(),
    }),
    usage: Type.Object({ postsCreated: Type.Integer(), captionGenerations: Type.Integer() }),
    limits: Type.Object({ maxPosts: Type.Integer(), maxCaptionGenerations: Type.Integer() }),
  },
  { title: 'User' },
)

/** A user record without its secrets. */
export const UserRecord = Type.Composite(
  [
    UserSchema,
    Type.Object({
      isDisabled: Type.Boolean(),
      createdAt: Instant,
      lastLogin: nullable(Instant),
    }),
  ],
  { title: 'UserRecord' },
)

export const LoggedIn = Type.Object(
  {
    accessToken: Type.String({ description: 'Send it as `Authorization: Bearer`' }),
    user: UserSchema,
  },
  { title: 'LoggedIn' },
)

export const Refreshed = Type.Object({ accessToken: Type.String() })

export const Me = Type.Object({ user: UserSchema })
