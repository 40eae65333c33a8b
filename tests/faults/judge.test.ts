import { describe, expect, it } from 'vitest'
import { marked, type Evidence, type Operation, type StoredPost } from './judge/evidence.ts'
import { judge } from './judge/judge.ts'

/** Every invariant is broken on purpose, in sample data: a judge that never objects would be worth nothing. */

const T0 = Date.parse('2026-03-01T12:00:00.000Z')
const SECOND = 1_000
const USER = 'user-1'
const words = (marker: string, text = 'hello') => marked(marker, text)
const at = (seconds: number) => T0 + seconds * SECOND
const iso = (seconds: number) => new Date(at(seconds)).toISOString()

function operation(kind: Operation['kind'], fields: Partial<Operation> = {}): Operation {
  const sentAt = fields.sentAt ?? T0
  return { kind, userId: USER, postId: 'p1', sentAt, answeredAt: sentAt + 20, status: 200, process: 'api-1', ...fields }
}

function create(fields: Partial<Operation> = {}): Operation {
  return operation('create', { status: 201, wish: { text: words('one'), platforms: ['bluesky'] }, ...fields })
}

function post(
  fields: Partial<StoredPost> = {},
  entry: Partial<StoredPost['platformStatuses'][number]> = {},
): StoredPost {
  return {
    _id: 'p1',
    userId: USER,
    content: { text: words('one') },
    selectedPlatforms: ['bluesky'],
    dueAt: new Date(T0),
    status: 'COMPLETED',
    correlationId: null,
    platformStatuses: [
      {
        platform: 'bluesky',
        status: 'completed',
        platformPostId: 'at://one',
        errorCode: null,
        completedAt: new Date(at(1.1)),
        delivery: { round: 0 },
        ...entry,
      },
    ],
    ...fields,
  }
}

const told = (dedupeKey: string, id = 'p1') => ({ userId: USER, dedupeKey, type: 'success', reference: { id } })
const record = (id = 'at://one', text = words('one')) => ({ id, account: 'ann.test', text })
const call = (seconds: number, text = words('one')) => ({ receivedAt: iso(seconds), text })

/** One immediate post, delivered. */
function clean(): Evidence {
  return {
    at: at(60),
    operations: [create()],
    posts: [post()],
    users: [{ _id: USER, usage: { postsCreated: 1 }, limits: { maxPosts: 10 } }],
    notifications: [told('post-created:p1'), told('post-published:p1:bluesky')],
    platforms: [{ platform: 'bluesky', ledger: [record()], requests: [call(1)] }],
    outages: [],
    exits: [],
    canaries: [{ name: 'the app password', value: 'canary-1', mayStandIn: ['the vault'] }],
    documents: [{ where: 'the log of api-1', text: '{"msg":"post created"}' }],
    leaseMs: 10 * SECOND,
  }
}

function judged(change: (evidence: Evidence) => void): { invariants: string[]; sentences: string } {
  const evidence = clean()
  change(evidence)
  const violations = judge(evidence)
  return {
    invariants: [...new Set(violations.map(({ invariant }) => invariant))],
    sentences: violations.map(({ sentence }) => sentence).join('\n'),
  }
}

/** The evidence is changed from a clean run, and exactly this invariant is reported, with these words. */
function breaks(invariant: string, words: RegExp, change: (evidence: Evidence) => void): void {
  const { invariants, sentences } = judged(change)
  expect(invariants, sentences).toEqual([invariant])
  expect(sentences).toMatch(words)
}

function passes(change: (evidence: Evidence) => void): void {
  const { invariants, sentences } = judged(change)
  expect(invariants, sentences).toEqual([])
}

/** The post as it would be if it had never gone out. */
function unsent(evidence: Evidence, status: StoredPost['status'], entry: 'pending' | 'failed' = 'pending'): void {
  evidence.posts = [post({ status }, { status: entry, platformPostId: null })]
  evidence.notifications = status === 'DRAFT' ? [] : [told('post-created:p1')]
  evidence.platforms[0]!.ledger = []
  evidence.platforms[0]!.requests = []
}

/** The post on Mastodon as well, as it should be. */
function everywhere(evidence: Evidence, wish: NonNullable<Operation['wish']>): void {
  const [stored] = evidence.posts as [StoredPost]
  const [entry] = stored.platformStatuses
  const text = wish.overrides?.mastodon ?? words('one')
  evidence.operations = [create({ wish: { text: words('one'), platforms: ['bluesky', 'mastodon'], ...wish } })]
  evidence.posts = [
    {
      ...stored,
      selectedPlatforms: ['bluesky', 'mastodon'],
      platformStatuses: [entry!, { ...entry!, platform: 'mastodon', platformPostId: '101' }],
    },
  ]
  evidence.notifications.push(told('post-published:p1:mastodon'), told('post-ended:p1:0'))
  evidence.platforms.push({ platform: 'mastodon', ledger: [record('101', text)], requests: [call(1, text)] })
}

it('finds nothing in a clean run', () => passes(() => {}))

describe('I1', () => {
  it('two records of one post', () =>
    breaks('I1', /p1 .*2 records, at:\/\/one, at:\/\/two/, ({ platforms }) => {
      platforms[0]!.ledger.push(record('at://two'))
    }))

  it('two records on one platform, of one on each', () =>
    breaks('I1', /mastodon has 2 records, 101, 102/, (evidence) => {
      everywhere(evidence, {})
      evidence.platforms[1]!.ledger.push(record('102'))
    }))

  it('the id of an earlier state of the post, as if it were the published one', () =>
    breaks('I1', /completed, but mastodon has no record 100|mastodon has 101, but no post says so/, (evidence) => {
      everywhere(evidence, {})
      evidence.posts[0]!.platformStatuses[1]!.platformPostId = '100'
    }))

  it('two records after an edit changed the words', () =>
    breaks('I1', /2 records/, (evidence) => {
      evidence.operations.push(operation('edit', { sentAt: at(0.5), status: 409, wish: { text: words('one', 'bye') } }))
      evidence.platforms[0]!.ledger.push(record('at://two', words('one', 'bye')))
    }))

  it('a completed post without a record', () =>
    breaks('I1', /completed, but bluesky has no record/, ({ platforms }) => {
      platforms[0]!.ledger = []
    }))

  it('a record of a post that says it failed', () =>
    breaks('I1', /no post says so \(it is FAILED/, (evidence) => {
      evidence.posts = [post({ status: 'FAILED' }, { status: 'failed', platformPostId: null, errorCode: 'transient' })]
      evidence.notifications = [told('post-created:p1'), told('post-failed:p1:bluesky:0')]
    }))

  it('the judge reports a record without a request', () =>
    breaks('I1', /which no stored or acknowledged post asked for/, ({ platforms }) => {
      platforms[0]!.ledger.push(record('at://two', words('other')))
    }))

  it('two posts that claim one record', () =>
    breaks('I1', /p1 .* and post p2 .* same record at:\/\/one/, (evidence) => {
      evidence.posts.push(post({ _id: 'p2' }))
      evidence.operations.push(create({ postId: 'p2' }))
      evidence.users[0]!.usage.postsCreated = 2
      evidence.notifications.push(told('post-created:p2', 'p2'), told('post-published:p2:bluesky', 'p2'))
    }))

  it('the judge accepts a missing post whose outcome was reported as unknown', () =>
    passes((evidence) => {
      evidence.posts = [
        post({ status: 'FAILED' }, { status: 'failed', platformPostId: null, errorCode: 'OUTCOME_UNKNOWN' }),
      ]
      evidence.notifications = [told('post-created:p1'), told('post-failed:p1:bluesky:0')]
    }))

  it('is content with two posts of equal words and a record each', () =>
    passes((evidence) => {
      const second = post({ _id: 'p2' }, { platformPostId: 'at://two' })
      evidence.posts.push(second)
      evidence.operations.push(create({ postId: 'p2' }))
      evidence.users[0]!.usage.postsCreated = 2
      evidence.notifications.push(told('post-created:p2', 'p2'), told('post-published:p2:bluesky', 'p2'))
      evidence.platforms[0]!.ledger.push(record('at://two'))
    }))
})

describe('I2', () => {
  it('the judge reports a due post without an end', () =>
    breaks('I2', /still PENDING/, (evidence) => unsent(evidence, 'PENDING')))

  it('the judge reports a delivery without progress', () =>
    breaks('I2', /still PROCESSING \(bluesky processing\)/, (evidence) => {
      unsent(evidence, 'PROCESSING')
      evidence.posts[0]!.platformStatuses[0]!.status = 'processing'
    }))

  it('an acknowledged post that is not stored', () =>
    breaks('I2', /answered 201, and nothing is stored/, (evidence) => {
      evidence.posts = []
      evidence.platforms[0]!.ledger = []
    }))

  it('is content with drafts, posts of a later day, and deleted ones', () => {
    passes((evidence) => {
      unsent(evidence, 'DRAFT')
      evidence.operations = [create({ wish: { text: words('one'), status: 'DRAFT', platforms: ['bluesky'] } })]
    })
    passes((evidence) => {
      unsent(evidence, 'SCHEDULED')
      evidence.posts[0]!.dueAt = new Date(at(3_600))
    })
    passes((evidence) => {
      evidence.operations.push(operation('delete', { sentAt: at(5) }))
      evidence.posts = []
    })
  })
})

describe('I3', () => {
  const scheduled = (evidence: Evidence, seconds: number) => {
    evidence.operations[0]!.wish = { ...evidence.operations[0]!.wish, scheduledAt: at(seconds) }
  }

  it('a call after an acknowledged cancel', () =>
    breaks('I3', /after the acknowledged cancel/, (evidence) => {
      unsent(evidence, 'CANCELLED')
      evidence.operations.push(operation('cancel', { sentAt: at(2) }))
      evidence.platforms[0]!.requests.push(call(3))
    }))

  it('a record of a cancelled post', () =>
    breaks('I3', /has at:\/\/one, although it is CANCELLED/, (evidence) => {
      unsent(evidence, 'CANCELLED')
      evidence.platforms[0]!.ledger = [record()]
    }))

  it('an acknowledged cancel that did not hold', () =>
    breaks('I3', /yet it is COMPLETED/, (evidence) => {
      evidence.operations.push(operation('cancel', { sentAt: at(2) }))
    }))

  it('a call after a delete that was acknowledged ahead of the instant', () =>
    breaks('I3', /after the acknowledged delete/, (evidence) => {
      scheduled(evidence, 10)
      evidence.posts = []
      evidence.operations.push(operation('delete', { sentAt: at(5) }))
      evidence.platforms[0]!.requests = [call(10.1)]
    }))

  it('a call long after a delete', () =>
    breaks('I3', /after the acknowledged delete/, (evidence) => {
      evidence.posts = []
      evidence.operations.push(operation('delete', { sentAt: at(5) }))
      evidence.platforms[0]!.requests = [call(16)]
    }))

  it('a call before the instant', () => breaks('I3', /before its instant/, (evidence) => scheduled(evidence, 1.001)))

  it('a call before the instant that an acknowledged edit set', () =>
    breaks('I3', /before its instant/, (evidence) => {
      scheduled(evidence, 0.9)
      evidence.operations.push(operation('edit', { sentAt: at(0.5), wish: { scheduledAt: at(30) } }))
    }))

  it('words that an acknowledged edit had replaced', () =>
    breaks('I3', /an acknowledged edit says "\[one\] bye"/, (evidence) => {
      evidence.operations.push(operation('edit', { sentAt: at(0.5), wish: { text: words('one', 'bye') } }))
    }))

  it('the common words where a platform has words of its own', () =>
    breaks('I3', /a call to mastodon .* says "\[one\] toot"/, (evidence) => {
      everywhere(evidence, { overrides: { mastodon: words('one', 'toot') } })
      evidence.platforms[1]!.requests = [call(1)]
    }))

  it('the words of one platform on another', () =>
    breaks('I3', /a call to bluesky/, (evidence) => {
      everywhere(evidence, { overrides: { mastodon: words('one', 'toot') } })
      evidence.platforms[0]!.requests = [call(1, words('one', 'toot'))]
    }))

  it('a draft that went out', () =>
    breaks('I3', /it is a draft/, (evidence) => {
      unsent(evidence, 'DRAFT')
      evidence.operations = [create({ wish: { text: words('one'), status: 'DRAFT', platforms: ['bluesky'] } })]
      evidence.platforms[0]!.requests = [call(1)]
    }))

  it('is content with the words that each platform is to have', () => {
    passes((evidence) => everywhere(evidence, {}))
    passes((evidence) => everywhere(evidence, { overrides: { mastodon: words('one', 'toot') } }))
    // An override outlives an edit of the common words.
    passes((evidence) => {
      everywhere(evidence, { overrides: { mastodon: words('one', 'toot') } })
      evidence.operations.push(operation('edit', { sentAt: at(0.5), wish: { text: words('one', 'bye') } }))
      evidence.platforms[0]!.requests = [call(1, words('one', 'bye'))]
    })
  })

  it('is content with what came in time, or may have', () => {
    passes((evidence) => scheduled(evidence, 1))
    // The result of an edit without a response is unknown.
    passes((evidence) => {
      const wish = { text: words('one', 'bye'), scheduledAt: at(30) }
      evidence.operations.push(operation('edit', { sentAt: at(0.5), answeredAt: null, status: null, wish }))
      evidence.outages.push({ what: 'api-1', from: at(0.5), until: at(0.6) })
    })
    // Claimed before the delete, sent right after it.
    passes((evidence) => {
      evidence.posts = []
      evidence.operations.push(operation('delete', { sentAt: at(0.9) }))
    })
  })
})

describe('I4', () => {
  it('a count that is not the number of acknowledged creates', () =>
    breaks('I4', /usage.postsCreated 2, but made 1/, ({ users }) => {
      users[0]!.usage.postsCreated = 2
    }))

  it('more posts than allowed', () =>
    breaks('I4', /may make 0/, ({ users }) => {
      users[0]!.limits.maxPosts = 0
    }))

  it('a refused create that is stored all the same', () =>
    breaks('I4', /no create of it was accepted/, ({ operations }) => {
      Object.assign(operations[0]!, { status: 403, postId: null })
    }))

  it('two posts for one idempotency key', () =>
    breaks('I4', /2 posts for the idempotency key k/, (evidence) => {
      evidence.operations[0]!.wish!.idempotencyKey = 'k'
      evidence.posts.push(post({ _id: 'p2', correlationId: 'k' }, { platformPostId: 'at://two' }))
      evidence.operations.push(create({ postId: 'p2', wish: { ...evidence.operations[0]!.wish } }))
      evidence.users[0]!.usage.postsCreated = 2
      evidence.notifications.push(told('post-created:p2', 'p2'), told('post-published:p2:bluesky', 'p2'))
      evidence.platforms[0]!.ledger.push(record('at://two'))
    }))

  it('is content with a stored post whose create got no answer', () =>
    passes((evidence) => {
      Object.assign(evidence.operations[0]!, { status: null, answeredAt: null, postId: null })
      evidence.outages.push({ what: 'api-1', from: T0, until: at(1) })
    }))
})

describe('I5', () => {
  it('a status that is not the roll-up', () =>
    breaks('I5', /stored as COMPLETED with failed/, (evidence) => {
      unsent(evidence, 'COMPLETED', 'failed')
      evidence.notifications.push(told('post-failed:p1:bluesky:0'))
    }))

  it('an entry that began before its post did, in an answer', () =>
    breaks('I5', /shown at .* as PENDING with processing/, ({ operations }) => {
      const data = { status: 'PENDING', platformStatuses: [{ status: 'processing' }] }
      operations.push(operation('read', { body: { data } }))
    }))
})

describe('I6', () => {
  it('one event stored twice', () =>
    breaks('I6', /2 notifications are stored for the one event post-published/, ({ notifications }) => {
      notifications.push(notifications[1]!)
    }))

  it('the judge accepts one notification for a publication in two rounds', () =>
    breaks('I6', /2 notifications of post-published:p1:bluesky/, ({ notifications }) => {
      notifications.push(told('post-published:p1:bluesky:1'))
    }))

  it('an event left out', () =>
    breaks('I6', /0 notifications of post-published:p1:bluesky/, ({ notifications }) => {
      notifications.pop()
    }))

  it('a failure of an earlier round left out', () =>
    breaks('I6', /0 notifications of post-failed:p1:bluesky:0/, (evidence) => {
      evidence.posts = [post({}, { delivery: { round: 1 } })]
    }))
})

describe('I6 of a post with several platforms', () => {
  const wish: NonNullable<Operation['wish']> = { text: words('one'), platforms: ['bluesky', 'mastodon'] }

  it('its end as a whole left out', () =>
    breaks('I6', /0 notifications of post-ended:p1, and should have 1/, (evidence) => {
      everywhere(evidence, wish)
      evidence.notifications = evidence.notifications.filter(({ dedupeKey }) => dedupeKey !== 'post-ended:p1:0')
    }))

  it('the judge reports a second end notification for a single round', () =>
    breaks('I6', /2 notifications of post-ended:p1, and should have 1/, (evidence) => {
      everywhere(evidence, wish)
      evidence.notifications.push(told('post-ended:p1:1'))
    }))
})

describe('I7', () => {
  it('a secret in a log', () =>
    breaks('I7', /the app password is in the log of worker-1, after "token="/, ({ documents }) => {
      documents.push({ where: 'the log of worker-1', text: 'token=canary-1' })
    }))

  it('a secret in an answer', () =>
    breaks('I7', /the app password is in the answer to a other/, ({ operations }) => {
      operations.push(operation('other', { body: { data: { password: 'canary-1' } } }))
    }))

  it('the judge accepts a secret where it is allowed', () =>
    passes(({ documents }) => documents.push({ where: 'the vault of ann', text: 'canary-1' })))
})

it('renewal: an ended token that was renewed twice', () =>
  breaks('renewal', /ann.test on bluesky ended 1 times and were renewed 2 times/, ({ platforms }) => {
    platforms[0]!.renewals = [{ account: 'ann.test', made: 2, due: 1 }]
  }))

it('connect: a callback that was used twice', () =>
  breaks('connect', /asked for tokens 2 times, of 1 good/, ({ platforms }) => {
    platforms[0]!.exchanges = { made: 2, due: 1 }
  }))

describe('I8', () => {
  it('a process that ended by itself', () =>
    breaks('I8', /worker-1 ended with code 1 by itself/, ({ exits }) => {
      exits.push({ process: 'worker-1', at: T0, how: 'ended with code 1', intended: false })
    }))

  it('a 500', () =>
    breaks('I8', /answered 500: Internal server error/, ({ operations }) => {
      operations.push(operation('read', { status: 500, body: { message: 'Internal server error' } }))
    }))

  it('a 503 while every server was up', () =>
    breaks('I8', /answered 503 while every server was up/, ({ operations }) => {
      operations.push(operation('read', { status: 503 }))
    }))

  it('a request without an answer', () =>
    breaks('I8', /got no answer, although api-1 was up/, ({ operations }) => {
      operations.push(operation('read', { status: null, answeredAt: null }))
    }))

  it('is content with a 503 while MongoDB is down, a 502 of a platform, and exits that were intended', () =>
    passes(({ operations, outages, exits }) => {
      outages.push({ what: 'mongod', from: at(1), until: at(4) })
      operations.push(operation('read', { sentAt: at(3), status: 503 }), operation('other', { status: 502 }))
      exits.push({ process: 'mongod', at: at(1), how: 'was stopped by SIGKILL', intended: true })
    }))
})
