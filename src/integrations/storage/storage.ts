import { Readable } from 'node:stream'
import {
  CreateBucketCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { FOLDERS } from '../../domain/media/storage-keys.ts'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'

export interface ObjectStorageOptions {
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** The public base address of the bucket; the start of every `storageUrl`. */
  publicUrl: string
}

export interface StoredObject {
  /** Must be read or cancelled, otherwise its connection stays open. */
  stream: ReadableStream<Uint8Array>
  sizeBytes: number
  contentType: string
}

/** The beginning of an object. */
export interface ObjectHead {
  head: Uint8Array
  /** Size of the whole object. */
  sizeBytes: number
  contentType: string
  /** Changes with the bytes. */
  etag: string
}

export interface UploadRequest {
  key: string
  contentType: string
  /** If set, the upload must have exactly this length. */
  sizeBytes?: number
}

export interface NewObject {
  key: string
  body: Uint8Array
  contentType: string
}

export interface ArrivingObject extends Omit<NewObject, 'body'> {
  body: AsyncIterable<Uint8Array>
  /** The exact size of the whole. */
  sizeBytes: number
}

export interface ListedObject {
  key: string
  storedAt: Date
}

interface CallOptions {
  /** Aborts the call and the reading of its response. */
  signal?: AbortSignal
}

export type ObjectStorage = ReturnType<typeof createObjectStorage>

/** Lifetime of a pre-signed upload address. */
export const PRESIGN_TTL_SECONDS = 900

/** The only folders with public read access. */
const PUBLIC_PREFIXES = [FOLDERS.uploads, FOLDERS.avatars, FOLDERS.copies]

const UNKNOWN_TYPE = 'application/octet-stream'
const CONNECT_TIMEOUT_MS = 5 * SECOND
const RESPONSE_TIMEOUT_MS = 30 * SECOND
const PING_TIMEOUT_MS = 2 * SECOND

/** Stores media and avatars with any S3 API. Connects with the first call. */
export function createObjectStorage(options: ObjectStorageOptions) {
  const { bucket } = options
  const publicBase = trimTrailingSlashes(options.publicUrl)
  const client = new S3Client({
    endpoint: options.endpoint,
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    forcePathStyle: true,
    // Otherwise the client's upload would need a checksum of the empty body that we sign.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: RESPONSE_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: RESPONSE_TIMEOUT_MS,
    },
  })

  const toCopySource = (key: string) => `${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`

  /** The permanent public address of an object. */
  const publicUrl = (key: string) => `${publicBase}/${key.split('/').map(encodeURIComponent).join('/')}`

  async function bucketExists(): Promise<boolean> {
    try {
      await client.send(new HeadBucketCommand({ Bucket: bucket }))
      return true
    } catch (error) {
      if (isNamed(error, 'NotFound', 'NoSuchBucket')) return false
      throw error
    }
  }

  /** On the S3 gateway, a bucket policy restricts even the owner; on other servers a key is not a valid principal. */
  async function putPolicy(): Promise<void> {
    const put = (statements: object[]) => {
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: statements })
      return client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }))
    }
    try {
      await put([publicRead(bucket), ownerAccess(bucket, options.accessKeyId)])
    } catch (error) {
      if (!isNamed(error, 'MalformedPolicy')) throw error
      await put([publicRead(bucket)])
    }
  }

  async function createBucket(): Promise<void> {
    try {
      // A key limited to this bucket may not be allowed to create buckets.
      if (await bucketExists()) return
      await client.send(new CreateBucketCommand({ Bucket: bucket }))
    } catch (error) {
      if (!isNamed(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error
    }
  }

  async function readMetadata(key: string, { signal }: CallOptions): Promise<HeadObjectCommandOutput | null> {
    try {
      return await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), toHttpOptions(signal))
    } catch (error) {
      if (isNamed(error, 'NoSuchKey', 'NotFound')) return null
      throw error
    }
  }

  const getRange = (key: string, [start, end]: [number, number], signal: AbortSignal | undefined) =>
    client.send(
      new GetObjectCommand({ Bucket: bucket, Key: key, Range: `bytes=${start}-${end - 1}` }),
      toHttpOptions(signal),
    )

  return {
    /** Signs an address for one PUT of a file. The type is signed, and the length where known, so other uploads are refused. */
    presignPut({ key, contentType, sizeBytes }: UploadRequest): Promise<string> {
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        ContentType: contentType,
        ...(sizeBytes === undefined ? {} : { ContentLength: sizeBytes }),
      })
      return getSignedUrl(client, command, {
        expiresIn: PRESIGN_TTL_SECONDS,
        signableHeaders: new Set(['host', 'content-type', 'content-length']),
      })
    },

    publicUrl,

    /**
     * Returns the key of the object with this public address; null for any other address. Addresses are compared as text: an
     * address that a parser would first have to normalize is not ours.
     */
    toKey(url: string): string | null {
      const key = url.slice(publicBase.length + 1)
      return publicUrl(key) === url ? key : null
    },

    /** Opens an object; null when it does not exist. The signal also aborts the reading. */
    async open(key: string, { signal }: CallOptions = {}): Promise<StoredObject | null> {
      try {
        const response = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), toHttpOptions(signal))
        return {
          stream: response.Body!.transformToWebStream() as ReadableStream<Uint8Array>,
          sizeBytes: response.ContentLength ?? 0,
          contentType: response.ContentType ?? UNKNOWN_TYPE,
        }
      } catch (error) {
        if (isNamed(error, 'NoSuchKey', 'NotFound')) return null
        throw error
      }
    },

    /** Reads up to `bytes` of an object's beginning; null when it does not exist. */
    async readHead(key: string, bytes: number, { signal }: CallOptions = {}): Promise<ObjectHead | null> {
      try {
        const response = await getRange(key, [0, bytes], signal)
        const head = await response.Body!.transformToByteArray()
        const sizeBytes = Number(response.ContentRange?.split('/')[1] ?? response.ContentLength ?? 0)
        return { head, sizeBytes, contentType: response.ContentType ?? UNKNOWN_TYPE, etag: response.ETag ?? '' }
      } catch (error) {
        if (isNamed(error, 'NoSuchKey', 'NotFound')) return null
        // An empty object has no first byte.
        if (isNamed(error, 'InvalidRange')) {
          return { head: new Uint8Array(), sizeBytes: 0, contentType: UNKNOWN_TYPE, etag: '' }
        }
        throw error
      }
    },

    /** Reads the bytes of an object from `start` up to, and without, `end`. */
    async readRange(key: string, start: number, end: number, { signal }: CallOptions = {}): Promise<Uint8Array> {
      const response = await getRange(key, [start, end], signal)
      return response.Body!.transformToByteArray()
    },

    /** Stores an object, replacing one with this key. */
    async put({ key, body, contentType }: NewObject, { signal }: CallOptions = {}): Promise<void> {
      await client.send(
        new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: contentType }),
        toHttpOptions(signal),
      )
    },

    /**
     * Stores an object while its bytes arrive. They are sent once, so a failure is not repeated.
     * @param timeoutMs for the whole object
     * @throws the error of `body`, which leaves nothing behind
     */
    async putArriving({ key, body, sizeBytes, contentType }: ArrivingObject, timeoutMs: number): Promise<void> {
      const stream = Readable.from(body, { objectMode: false })
      const broken = new AbortController()
      stream.on('error', (error) => broken.abort(error))
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), broken.signal])
      const command = new PutObjectCommand({
        ...{ Bucket: bucket, Key: key, Body: stream, ContentLength: sizeBytes, ContentType: contentType },
      })
      try {
        await client.send(command, { ...toHttpOptions(signal), requestTimeout: timeoutMs })
      } catch (error) {
        broken.signal.throwIfAborted()
        throw error
      } finally {
        stream.destroy()
      }
    },

    /** Returns when an object was last stored; null when it does not exist. */
    async storedAt(key: string, options: CallOptions = {}): Promise<Date | null> {
      const found = await readMetadata(key, options)
      return found && (found.LastModified ?? new Date(0))
    },

    /** Returns the size of an object in bytes; null when it does not exist. */
    async sizeOf(key: string, options: CallOptions = {}): Promise<number | null> {
      const found = await readMetadata(key, options)
      return found && (found.ContentLength ?? 0)
    },

    /** The next objects of a folder in the order of their keys. A page shorter than `limit` is the last one. */
    async list(
      folder: string,
      { after, limit }: { after: string | null; limit: number },
      { signal }: CallOptions = {},
    ): Promise<ListedObject[]> {
      const { Contents = [] } = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: folder,
          MaxKeys: limit,
          ...(after !== null && { StartAfter: after }),
        }),
        toHttpOptions(signal),
      )
      return Contents.map(({ Key, LastModified }) => ({ key: Key!, storedAt: LastModified! }))
    },

    /** Moves an object to another key, replacing what is there. Returns false when it does not exist. */
    async move(from: string, to: string, { signal }: CallOptions = {}): Promise<boolean> {
      const options = toHttpOptions(signal)
      try {
        await client.send(new CopyObjectCommand({ Bucket: bucket, Key: to, CopySource: toCopySource(from) }), options)
      } catch (error) {
        if (isNamed(error, 'NoSuchKey', 'NotFound')) return false
        throw error
      }
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: from }), options)
      return true
    },

    /** Changes the content type of an object at the same address. */
    async retype(key: string, contentType: string, { signal }: CallOptions = {}): Promise<void> {
      const change = { MetadataDirective: 'REPLACE', ContentType: contentType } as const
      await client.send(
        new CopyObjectCommand({ Bucket: bucket, Key: key, CopySource: toCopySource(key), ...change }),
        toHttpOptions(signal),
      )
    },

    /** Deletes an object; succeeds also when it does not exist. */
    async remove(key: string, { signal }: CallOptions = {}): Promise<void> {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), toHttpOptions(signal))
    },

    /** Creates the bucket, permits public reads of media, copies and avatars, and uploads by the frontends. Can be repeated. */
    async ensureBucket(corsOrigins: string[]): Promise<void> {
      await createBucket()
      await putPolicy()
      await client.send(
        new PutBucketCorsCommand({
          Bucket: bucket,
          CORSConfiguration: {
            CORSRules: [
              {
                AllowedOrigins: corsOrigins,
                AllowedMethods: ['GET', 'HEAD', 'PUT'],
                AllowedHeaders: ['*'],
                MaxAgeSeconds: 3_600,
              },
            ],
          },
        }),
      )
    },

    /** Resolves when the bucket exists and answers. */
    async ping(): Promise<void> {
      await client.send(new HeadBucketCommand({ Bucket: bucket }), {
        abortSignal: AbortSignal.timeout(PING_TIMEOUT_MS),
      })
    },

    close(): void {
      client.destroy()
    },
  }
}

function publicRead(bucket: string): object {
  return {
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: PUBLIC_PREFIXES.map((prefix) => `arn:aws:s3:::${bucket}/${prefix}*`),
  }
}

function ownerAccess(bucket: string, accessKeyId: string): object {
  return {
    Effect: 'Allow',
    Principal: { AWS: [accessKeyId] },
    Action: 's3:*',
    Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
  }
}

function toHttpOptions(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {}
}

function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}
