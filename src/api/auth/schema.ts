import { Type } from '@sinclair/typebox'
import { MAX_PASSWORD_LENGTH } from '../../domain/users/passwords.ts'
import { SUBSCRIPTION_PLANS, SUBSCRIPTION_STATUSES } from '../../domain/billing/subscription.ts'
import { AUTH_PROVIDERS, ROLES } from '../../domain/users/user.ts'
import { Instant, nullable, oneOf, PersonName } from '../shared/schemas/common.ts'

export const LogInBody = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320 }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
  },
  { title: 'LogIn' },
)

const EmailAddress = Type.String({ format: 'email', maxLength: 320 })

/** Its other rules are those of `domain/new-passwords.ts`, which count after normalization. */
const NewPassword = Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH })

export const AddressBody = Type.Object({ email: EmailAddress }, { title: 'EmailAddress' })

export const VerifyCodeBody = Type.Object(
  { email: EmailAddress, otp: Type.String({ minLength: 1, maxLength: 20 }) },
  { title: 'VerifyCode' },
)

const VerificationToken = Type.String({
  maxLength: 100,
  description:
    'Proof of the verified address: sign up with it within 15 minutes. It is also set as a cookie, and `X-Verification-Token` carries it as well.',
})

export const VerificationHeaders = Type.Object({ 'x-verification-token': Type.Optional(VerificationToken) })

export const Verified = Type.Object({ email: Type.String(), verificationToken: VerificationToken })

export const SignUpBody = Type.Object(
  {
    email: EmailAddress,
    name: PersonName,
    password: NewPassword,
    confirmPassword: Type.Optional(Type.String()),
    verificationToken: Type.Optional(VerificationToken),
    avatar: Type.Optional(
      nullable(Type.String({ description: 'A data URL of a PNG, JPEG or WebP picture in base64' })),
    ),
  },
  { title: 'SignUp' },
)

export const ResetPasswordBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 100 }),
    email: EmailAddress,
    password: NewPassword,
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
      description: 'Of its last refresh, which clients make every few minutes',
    }),
    isCurrent: Type.Boolean({ description: 'Whether the request came from it' }),
  },
  { title: 'Device' },
)

/** The signed-in user as every client sees itself; `id` and `_id` are the same. */
export const UserSchema = Type.Object(
  {
    id: Type.String(),
    _id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: oneOf(ROLES),
    avatar: nullable(Type.String()),
    timezone: Type.String(),
    auth: Type.Object({
      provider: oneOf(AUTH_PROVIDERS, { description: 'Only an `email` account has a password that can be changed.' }),
    }),
    subscription: Type.Object({
      plan: oneOf(SUBSCRIPTION_PLANS),
      status: oneOf(SUBSCRIPTION_STATUSES),
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

/** All of a user record but for what is nobody's business. */
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
    accessToken: Type.String({ description: 'To be sent as Authorization: Bearer' }),
    user: UserSchema,
  },
  { title: 'LoggedIn' },
)

export const Refreshed = Type.Object({ accessToken: Type.String() })

export const Me = Type.Object({ user: UserSchema })
