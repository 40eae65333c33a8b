import { Type, type Static } from '@sinclair/typebox'
import { responseReader } from '../shared/responses.ts'

/** The fields we use of Bluesky's responses, each with a link to its description. */

/** Parsed by `parseCount`, so that an invalid count does not invalidate the whole response. */
const count = Type.Optional(Type.Unknown())

/** Longer than any token in use; a hostile server chooses it, and it is stored. */
const secret = Type.String({ minLength: 1, maxLength: 16_384 })

/** https://docs.bsky.app/docs/api/com-atproto-server-create-session and -refresh-session */
const Session = Type.Object({
  did: Type.String({ pattern: '^did:', maxLength: 2_048 }),
  handle: Type.String({ maxLength: 253 }),
  accessJwt: secret,
  refreshJwt: secret,
  active: Type.Optional(Type.Boolean()),
  didDoc: Type.Optional(Type.Unknown()),
})
export type Session = Static<typeof Session>
export const readSession = responseReader(Session)

/** https://www.w3.org/TR/did-core/#services, as https://atproto.com/specs/did#did-documents uses it. */
const DidDocument = Type.Object({
  id: Type.Optional(Type.Unknown()),
  service: Type.Array(Type.Object({ id: Type.String(), type: Type.Unknown(), serviceEndpoint: Type.Unknown() })),
})
export type DidDocument = Static<typeof DidDocument>
export const readDidDocument = responseReader(DidDocument)

/** https://docs.bsky.app/docs/api/app-bsky-actor-get-profile */
const ProfileView = Type.Object({
  did: Type.String(),
  handle: Type.String({ maxLength: 253 }),
  displayName: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  avatar: Type.Optional(Type.String()),
  followersCount: count,
})
export const readProfile = responseReader(ProfileView)

/** https://docs.bsky.app/docs/api/app-bsky-feed-get-posts */
const PostView = Type.Object({
  uri: Type.String({ pattern: '^at://' }),
  likeCount: count,
  repostCount: count,
  quoteCount: count,
  replyCount: count,
  bookmarkCount: count,
})
export type PostView = Static<typeof PostView>
export const readPostViews = responseReader(Type.Object({ posts: Type.Array(PostView) }))

/** https://docs.bsky.app/docs/api/com-atproto-identity-resolve-handle */
const ResolvedHandle = Type.Object({ did: Type.String({ pattern: '^did:' }) })
export const readResolvedHandle = responseReader(ResolvedHandle)

/** https://atproto.com/specs/data-model#blob-type; copied into the record unchanged. */
export const BlobRef = Type.Object({
  $type: Type.Literal('blob'),
  ref: Type.Object({ $link: Type.String() }),
  mimeType: Type.String(),
  size: Type.Integer(),
})
export type BlobRef = Static<typeof BlobRef>

/** https://docs.bsky.app/docs/api/com-atproto-repo-upload-blob */
const UploadedBlob = Type.Object({ blob: BlobRef })
export const readUploadedBlob = responseReader(UploadedBlob)

/** https://docs.bsky.app/docs/api/com-atproto-server-describe-server */
const ServerDescription = Type.Object({ did: Type.String({ pattern: '^did:' }) })
export const readServerDescription = responseReader(ServerDescription)

/** https://docs.bsky.app/docs/api/com-atproto-server-get-service-auth */
const ServiceToken = Type.Object({ token: Type.String({ minLength: 1 }) })
export const readServiceToken = responseReader(ServiceToken)

/** https://docs.bsky.app/docs/api/app-bsky-video-get-job-status */
const VideoJob = Type.Object({
  jobId: Type.String({ minLength: 1 }),
  state: Type.String(),
  blob: Type.Optional(BlobRef),
  failureCode: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
})
/** The schema wraps the job, but responses to uploads also come without the wrapper. */
export const readVideoJob = readWrappedOrBare(
  responseReader(Type.Object({ jobStatus: VideoJob })),
  responseReader(VideoJob),
)
const KnownJob = Type.Pick(VideoJob, ['jobId'])
/** Part of the refusal of a video that the service already has. */
export const readKnownJob = readWrappedOrBare(
  responseReader(Type.Object({ jobStatus: KnownJob })),
  responseReader(KnownJob),
)

function readWrappedOrBare<T>(
  readWrapped: (text: string) => { jobStatus: T } | null,
  readBare: (text: string) => T | null,
) {
  return (text: string): T | null => readWrapped(text)?.jobStatus ?? readBare(text)
}

/** https://docs.bsky.app/docs/api/com-atproto-repo-put-record */
const WrittenRecord = Type.Object({ uri: Type.String({ pattern: '^at://' }), cid: Type.String() })
export const readWrittenRecord = responseReader(WrittenRecord)

/** https://docs.bsky.app/docs/api/com-atproto-repo-delete-record; without a commit where nothing was deleted, and from older servers. */
const DeletedRecord = Type.Object({ commit: Type.Optional(Type.Object({ cid: Type.String(), rev: Type.String() })) })
export const readDeletedRecord = responseReader(DeletedRecord)

/** https://docs.bsky.app/docs/api/com-atproto-repo-get-record */
const StoredRecord = Type.Object({
  uri: Type.String({ pattern: '^at://' }),
  cid: Type.Optional(Type.String()),
  value: Type.Object({ text: Type.Optional(Type.Unknown()), createdAt: Type.Optional(Type.Unknown()) }),
})
export type StoredRecord = Static<typeof StoredRecord>
export const readStoredRecord = responseReader(StoredRecord)
/** https://docs.bsky.app/docs/api/com-atproto-repo-list-records */
export const readStoredRecords = responseReader(
  Type.Object({ records: Type.Array(StoredRecord), cursor: Type.Optional(Type.String()) }),
)

/** https://atproto.com/specs/xrpc#error-responses; the name of an error is one word. */
const XrpcError = Type.Object({
  error: Type.String({ pattern: '^[A-Za-z0-9]+$' }),
  message: Type.Optional(Type.String()),
})
export type XrpcError = Static<typeof XrpcError>
export const readXrpcError = responseReader(XrpcError)
