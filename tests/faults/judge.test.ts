import { describe, expect, it } from 'vitest'
import {
  marked,
  type Evidence,
  type Operation,
  type PostInput,
  type ReceivedEvent,
  type StoredEvent,
  type StoredPost,
} from './judge/evidence.ts'
import { judge } from './judge/judge.ts'

/** Each test changes the evidence of a clean run. The judge must report exactly the violated invariant. */

const T0 = Date.parse('2026-03-01T12:00:00.000Z')
const SECOND = 1_000
const USER = 'user-1'
const text = (marker: string, words = 'hello') => marked(marker, words)
const at = (seconds: number) => T0 + seconds * SECOND
const iso = (seconds: number) => new Date(at(seconds)).toISOString()

function operation(kind: Operation['kind'], fields: Partial<Operation> = {}): Operation {
  const sentAt = fields.sentAt ?? T0
  return { kind, userId: USER, postId: 'p1', sentAt, answeredAt: sentAt + 20, status: 200, process: 'api-1', ...fields }
}

function create(fields: Partial<Operation> = {}): Operation {
  return operation('create', { status: 201, input: { text: text('one'), platforms: ['bluesky'] }, ...fields })
}

function post(
  fields: Partial<StoredPost> = {},
  entry: Partial<StoredPost['platformStatuses'][number]> = {},
): StoredPost {
  return {
    _id: 'p1',
    userId: USER,
    content: { text: text('one') },
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
        delivery: { round: 0, attempt: 1 },
        ...entry,
      },
    ],
    ...fields,
  }
}

const notification = (dedupeKey: string, id = 'p1') => ({ userId: USER, dedupeKey, type: 'success', reference: { id } })
const event = (sequence: number, _id: string, type: string, data: object = {}): StoredEvent => {
  return { _id, userId: USER, sequence, type, data: { postId: 'p1', ...data } }
}
const accepted = (sequence: number, platformPostId = 'at://one') =>
  event(sequence, 'evt_p1-bluesky-accepted', 'delivery.accepted', { platformPostId })
const record = (id = 'at://one', content = text('one')) => ({ id, account: 'ann.test', text: content })
const call = (seconds: number, content = text('one')) => ({ receivedAt: iso(seconds), text: content })

/** Returns the evidence of a clean run with one immediate post that was published. */
function buildEvidence(): Evidence {
  return {
    at: at(60),
    operations: [create()],
    posts: [post()],
    users: [{ _id: USER, usage: { postsCreated: 1 }, limits: { maxPosts: 10 } }],
    notifications: [notification('post-created:p1'), notification('post-published:p1:bluesky')],
    events: null,
    webhooks: [],
    platforms: [{ platform: 'bluesky', ledger: [record()], requests: [call(1)] }],
    outages: [],
    exits: [],
    canaries: [{ name: 'the app password', value: 'canary-1', allowedIn: ['the vault'] }],
    documents: [{ source: 'the log of api-1', text: '{"msg":"post created"}' }],
    leaseMs: 10 * SECOND,
  }
}

function judgeChanged(change: (evidence: Evidence) => void): { invariants: string[]; messages: string } {
  const evidence = buildEvidence()
  change(evidence)
  const violations = judge(evidence)
  return {
    invariants: [...new Set(violations.map(({ invariant }) => invariant))],
    messages: violations.map(({ message }) => message).join('\n'),
  }
}

/** Expects that the judge reports only this invariant for the changed evidence, with a matching message. */
function expectViolation(invariant: string, message: RegExp, change: (evidence: Evidence) => void): void {
  const { invariants, messages } = judgeChanged(change)
  expect(invariants, messages).toEqual([invariant])
  expect(messages).toMatch(message)
}

function expectNoViolation(change: (evidence: Evidence) => void): void {
  const { invariants, messages } = judgeChanged(change)
  expect(invariants, messages).toEqual([])
}

/** Changes the post to one that was never sent. */
function makeUnsent(evidence: Evidence, status: StoredPost['status'], entry: 'pending' | 'failed' = 'pending'): void {
  evidence.posts = [post({ status }, { status: entry, platformPostId: null })]
  evidence.notifications = status === 'DRAFT' ? [] : [notification('post-created:p1')]
  evidence.platforms[0]!.ledger = []
  evidence.platforms[0]!.requests = []
}

/** Publishes the post on Mastodon as well, without a violation. */
function addMastodon(evidence: Evidence, input: PostInput = {}): void {
  const [stored] = evidence.posts as [StoredPost]
  const [entry] = stored.platformStatuses
  const content = input.overrides?.['mastodon'] ?? text('one')
  evidence.operations = [create({ input: { text: text('one'), platforms: ['bluesky', 'mastodon'], ...input } })]
  evidence.posts = [
    {
      ...stored,
      selectedPlatforms: ['bluesky', 'mastodon'],
      platformStatuses: [entry!, { ...entry!, platform: 'mastodon', platformPostId: '101' }],
    },
  ]
  evidence.notifications.push(notification('post-published:p1:mastodon'))
  evidence.platforms.push({ platform: 'mastodon', ledger: [record('101', content)], requests: [call(1, content)] })
}

/** Publishes the post on a second Bluesky account as well, without a violation. */
function addSecondAccount(evidence: Evidence, input: PostInput = {}): void {
  const [stored] = evidence.posts as [StoredPost]
  const [entry] = stored.platformStatuses
  const content = input.overrides?.['second'] ?? text('one')
  evidence.operations = [
    create({ input: { text: text('one'), platforms: ['bluesky'], accounts: ['second'], ...input } }),
  ]
  evidence.posts = [
    {
      ...stored,
      selectedAccounts: ['second'],
      platformStatuses: [entry!, { ...entry!, target: 'second', platformPostId: 'at://second' }],
    },
  ]
  evidence.notifications.push(notification('post-published:p1:second'))
  evidence.platforms.push({
    ...{ platform: 'bluesky', target: 'second' },
    ledger: [record('at://second', content)],
    requests: [call(1, content)],
  })
}

it('the judge reports nothing for a clean run', () => expectNoViolation(() => {}))

describe('I1', () => {
  it('the judge reports two records of one post', () =>
    expectViolation('I1', /p1 .*2 records, at:\/\/one, at:\/\/two/, ({ platforms }) => {
      platforms[0]!.ledger.push(record('at://two'))
    }))

  it('the judge reports a second record on one of two platforms', () =>
    expectViolation('I1', /mastodon has 2 records, 101, 102/, (evidence) => {
      addMastodon(evidence)
      evidence.platforms[1]!.ledger.push(record('102'))
    }))

  it('the judge accepts the same text on two accounts, and a text of its own on one of them', () => {
    expectNoViolation(addSecondAccount)
    const overrides = { bluesky: text('one', 'on Bluesky'), second: text('one', 'for the second') }
    expectNoViolation((evidence) => {
      addSecondAccount(evidence, { overrides })
      evidence.platforms[0] = {
        ...{ platform: 'bluesky', ledger: [record('at://one', overrides.bluesky)] },
        requests: [call(1, overrides.bluesky)],
      }
    })
  })

  it('the judge reports two records on one of two accounts', () =>
    expectViolation('I1', /bluesky \(second\) has 2 records, at:\/\/second, at:\/\/third/, (evidence) => {
      addSecondAccount(evidence)
      evidence.platforms[1]!.ledger.push(record('at://third'))
    }))

  it('the judge reports an account without a record whose entry names that of the other account', () =>
    expectViolation('I1', /completed, but bluesky \(second\) has no record at:\/\/one/, (evidence) => {
      addSecondAccount(evidence)
      evidence.platforms[1]!.ledger = []
      evidence.posts[0]!.platformStatuses[1]!.platformPostId = 'at://one'
    }))

  it('the judge reports a post that was published on an account which it does not name', () =>
    expectViolation(
      'I1',
      /bluesky \(second\) has at:\/\/second with the text "one", which no .* post has/,
      ({ platforms }) => {
        platforms.push({ platform: 'bluesky', target: 'second', ledger: [record('at://second')], requests: [] })
      },
    ))

  it('the judge reports a completed post that names another record than its own', () =>
    expectViolation(
      'I1',
      /completed, but mastodon has no record 100|mastodon has 101, but no post reports it/,
      (evidence) => {
        addMastodon(evidence)
        evidence.posts[0]!.platformStatuses[1]!.platformPostId = '100'
      },
    ))

  it('the judge reports two records with the texts before and after a rejected edit', () =>
    expectViolation('I1', /2 records/, (evidence) => {
      evidence.operations.push(operation('edit', { sentAt: at(0.5), status: 409, input: { text: text('one', 'bye') } }))
      evidence.platforms[0]!.ledger.push(record('at://two', text('one', 'bye')))
    }))

  it('the judge reports a completed post without a record', () =>
    expectViolation('I1', /completed, but bluesky has no record/, ({ platforms }) => {
      platforms[0]!.ledger = []
    }))

  it('the judge reports a record of a failed post', () =>
    expectViolation('I1', /no post reports it \(it is FAILED/, (evidence) => {
      evidence.posts = [post({ status: 'FAILED' }, { status: 'failed', platformPostId: null, errorCode: 'transient' })]
      evidence.notifications = [notification('post-created:p1'), notification('post-failed:p1:bluesky:0')]
    }))

  it('the judge reports a record without a request', () =>
    expectViolation('I1', /which no stored or acknowledged post has/, ({ platforms }) => {
      platforms[0]!.ledger.push(record('at://two', text('other')))
    }))

  it('the judge reports two posts that name the same record', () =>
    expectViolation('I1', /p1 .* and post p2 .* same record at:\/\/one/, (evidence) => {
      evidence.posts.push(post({ _id: 'p2' }))
      evidence.operations.push(create({ postId: 'p2' }))
      evidence.users[0]!.usage.postsCreated = 2
      evidence.notifications.push(
        notification('post-created:p2', 'p2'),
        notification('post-published:p2:bluesky', 'p2'),
      )
    }))

  it('the judge accepts a missing post whose outcome was reported as unknown', () =>
    expectNoViolation((evidence) => {
      evidence.posts = [
        post({ status: 'FAILED' }, { status: 'failed', platformPostId: null, errorCode: 'OUTCOME_UNKNOWN' }),
      ]
      evidence.notifications = [notification('post-created:p1'), notification('post-failed:p1:bluesky:0')]
    }))

  it('the judge accepts two posts with equal texts and one record each', () =>
    expectNoViolation((evidence) => {
      const second = post({ _id: 'p2' }, { platformPostId: 'at://two' })
      evidence.posts.push(second)
      evidence.operations.push(create({ postId: 'p2' }))
      evidence.users[0]!.usage.postsCreated = 2
      evidence.notifications.push(
        notification('post-created:p2', 'p2'),
        notification('post-published:p2:bluesky', 'p2'),
      )
      evidence.platforms[0]!.ledger.push(record('at://two'))
    }))
})

describe('I2', () => {
  it('the judge reports a due post without an end', () =>
    expectViolation('I2', /still PENDING/, (evidence) => makeUnsent(evidence, 'PENDING')))

  it('the judge reports a delivery without progress', () =>
    expectViolation('I2', /still PROCESSING \(bluesky processing\)/, (evidence) => {
      makeUnsent(evidence, 'PROCESSING')
      evidence.posts[0]!.platformStatuses[0]!.status = 'processing'
    }))

  it('the judge reports an acknowledged post that is not stored', () =>
    expectViolation('I2', /returned 201, but the post is not stored/, (evidence) => {
      evidence.posts = []
      evidence.platforms[0]!.ledger = []
    }))

  it('the judge accepts drafts, posts that are not due yet, and deleted posts', () => {
    expectNoViolation((evidence) => {
      makeUnsent(evidence, 'DRAFT')
      evidence.operations = [create({ input: { text: text('one'), status: 'DRAFT', platforms: ['bluesky'] } })]
    })
    expectNoViolation((evidence) => {
      makeUnsent(evidence, 'SCHEDULED')
      evidence.posts[0]!.dueAt = new Date(at(3_600))
    })
    expectNoViolation((evidence) => {
      evidence.operations.push(operation('delete', { sentAt: at(5) }))
      evidence.posts = []
    })
  })
})

describe('I3', () => {
  const schedule = (evidence: Evidence, seconds: number) => {
    evidence.operations[0]!.input = { ...evidence.operations[0]!.input, scheduledAt: at(seconds) }
  }

  it('the judge reports a call after an acknowledged cancel', () =>
    expectViolation('I3', /after the acknowledged cancel/, (evidence) => {
      makeUnsent(evidence, 'CANCELLED')
      evidence.operations.push(operation('cancel', { sentAt: at(2) }))
      evidence.platforms[0]!.requests.push(call(3))
    }))

  it('the judge reports a record of a cancelled post', () =>
    expectViolation('I3', /has at:\/\/one, although it is CANCELLED/, (evidence) => {
      makeUnsent(evidence, 'CANCELLED')
      evidence.platforms[0]!.ledger = [record()]
    }))

  it('the judge reports an acknowledged cancel without effect', () =>
    expectViolation('I3', /but it is COMPLETED/, (evidence) => {
      evidence.operations.push(operation('cancel', { sentAt: at(2) }))
    }))

  it('the judge reports a call for a post that was deleted before it was due', () =>
    expectViolation('I3', /after the acknowledged delete/, (evidence) => {
      schedule(evidence, 10)
      evidence.posts = []
      evidence.operations.push(operation('delete', { sentAt: at(5) }))
      evidence.platforms[0]!.requests = [call(10.1)]
    }))

  it('the judge reports a call after a delete and the end of the lease', () =>
    expectViolation('I3', /after the acknowledged delete/, (evidence) => {
      evidence.posts = []
      evidence.operations.push(operation('delete', { sentAt: at(5) }))
      evidence.platforms[0]!.requests = [call(16)]
    }))

  it('the judge reports a call before the due time', () =>
    expectViolation('I3', /before its due time/, (evidence) => schedule(evidence, 1.001)))

  it('the judge reports a call before the due time that an acknowledged edit set', () =>
    expectViolation('I3', /before its due time/, (evidence) => {
      schedule(evidence, 0.9)
      evidence.operations.push(operation('edit', { sentAt: at(0.5), input: { scheduledAt: at(30) } }))
    }))

  it('the judge reports a call with a text that an acknowledged edit had replaced', () =>
    expectViolation('I3', /instead of the acknowledged text "\[one\] bye"/, (evidence) => {
      evidence.operations.push(operation('edit', { sentAt: at(0.5), input: { text: text('one', 'bye') } }))
    }))

  it('the judge reports a call with the common text to a platform with an override', () =>
    expectViolation('I3', /a call to mastodon .* instead of the acknowledged text "\[one\] toot"/, (evidence) => {
      addMastodon(evidence, { overrides: { mastodon: text('one', 'toot') } })
      evidence.platforms[1]!.requests = [call(1)]
    }))

  it('the judge reports a call with the override of another platform', () =>
    expectViolation('I3', /a call to bluesky/, (evidence) => {
      addMastodon(evidence, { overrides: { mastodon: text('one', 'toot') } })
      evidence.platforms[0]!.requests = [call(1, text('one', 'toot'))]
    }))

  it('the judge reports a call for a draft', () =>
    expectViolation('I3', /it is a draft/, (evidence) => {
      makeUnsent(evidence, 'DRAFT')
      evidence.operations = [create({ input: { text: text('one'), status: 'DRAFT', platforms: ['bluesky'] } })]
      evidence.platforms[0]!.requests = [call(1)]
    }))

  it('the judge accepts calls with the text or the override of their platform', () => {
    expectNoViolation((evidence) => addMastodon(evidence))
    expectNoViolation((evidence) => addMastodon(evidence, { overrides: { mastodon: text('one', 'toot') } }))
    // An edit of the common text leaves the override unchanged.
    expectNoViolation((evidence) => {
      addMastodon(evidence, { overrides: { mastodon: text('one', 'toot') } })
      evidence.operations.push(operation('edit', { sentAt: at(0.5), input: { text: text('one', 'bye') } }))
      evidence.platforms[0]!.requests = [call(1, text('one', 'bye'))]
    })
  })

  it('the judge accepts calls that were permitted or may have been', () => {
    expectNoViolation((evidence) => schedule(evidence, 1))
    // The result of an edit without a response is unknown.
    expectNoViolation((evidence) => {
      const input = { text: text('one', 'bye'), scheduledAt: at(30) }
      evidence.operations.push(operation('edit', { sentAt: at(0.5), answeredAt: null, status: null, input }))
      evidence.outages.push({ process: 'api-1', from: at(0.5), until: at(0.6) })
    })
    // The claim was made before the delete, and its call began right after it.
    expectNoViolation((evidence) => {
      evidence.posts = []
      evidence.operations.push(operation('delete', { sentAt: at(0.9) }))
    })
  })
})

describe('I4', () => {
  it('the judge reports a usage that differs from the number of acknowledged creates', () =>
    expectViolation('I4', /usage.postsCreated 2, but created 1/, ({ users }) => {
      users[0]!.usage.postsCreated = 2
    }))

  it('the judge reports more posts than the limit', () =>
    expectViolation('I4', /over the limit of 0/, ({ users }) => {
      users[0]!.limits.maxPosts = 0
    }))

  it('the judge reports a rejected create that is stored', () =>
    expectViolation('I4', /no create of it was acknowledged/, ({ operations }) => {
      Object.assign(operations[0]!, { status: 403, postId: null })
    }))

  it('the judge reports two posts for one idempotency key', () =>
    expectViolation('I4', /2 posts for the idempotency key k/, (evidence) => {
      evidence.operations[0]!.input!.idempotencyKey = 'k'
      evidence.posts.push(post({ _id: 'p2', correlationId: 'k' }, { platformPostId: 'at://two' }))
      evidence.operations.push(create({ postId: 'p2', input: { ...evidence.operations[0]!.input } }))
      evidence.users[0]!.usage.postsCreated = 2
      evidence.notifications.push(
        notification('post-created:p2', 'p2'),
        notification('post-published:p2:bluesky', 'p2'),
      )
      evidence.platforms[0]!.ledger.push(record('at://two'))
    }))

  it('the judge accepts a stored post whose create got no response', () =>
    expectNoViolation((evidence) => {
      Object.assign(evidence.operations[0]!, { status: null, answeredAt: null, postId: null })
      evidence.outages.push({ process: 'api-1', from: T0, until: at(1) })
    }))
})

describe('I5', () => {
  it('the judge reports a post status that is not the roll-up', () =>
    expectViolation('I5', /stored as COMPLETED with failed/, (evidence) => {
      makeUnsent(evidence, 'COMPLETED', 'failed')
      evidence.notifications.push(notification('post-failed:p1:bluesky:0'))
    }))

  it('the judge reports a response with a pending post and a processing entry', () =>
    expectViolation('I5', /shown at .* as PENDING with processing/, ({ operations }) => {
      const data = { status: 'PENDING', platformStatuses: [{ status: 'processing' }] }
      operations.push(operation('read', { body: { data } }))
    }))
})

describe('I6', () => {
  it('the judge reports an event that is stored twice', () =>
    expectViolation('I6', /2 notifications are stored for the same event post-published/, ({ notifications }) => {
      notifications.push(notifications[1]!)
    }))

  it('the judge reports a second notification for the same publication', () =>
    expectViolation('I6', /2 notifications of post-published:p1:bluesky/, ({ notifications }) => {
      notifications.push(notification('post-published:p1:bluesky:1'))
    }))

  it('the judge reports a missing notification', () =>
    expectViolation('I6', /0 notifications of post-published:p1:bluesky/, ({ notifications }) => {
      notifications.pop()
    }))

  it("the judge reports a missing notification of an earlier round's failure", () =>
    expectViolation('I6', /0 notifications of post-failed:p1:bluesky:0/, (evidence) => {
      evidence.posts = [post({}, { delivery: { round: 1, attempt: 1 } })]
    }))
})

describe('I7', () => {
  it('the judge reports a secret in a log', () =>
    expectViolation('I7', /the app password is in the log of worker-1, after "token="/, ({ documents }) => {
      documents.push({ source: 'the log of worker-1', text: 'token=canary-1' })
    }))

  it('the judge reports a secret in a response', () =>
    expectViolation('I7', /the app password is in the response to "other"/, ({ operations }) => {
      operations.push(operation('other', { body: { data: { password: 'canary-1' } } }))
    }))

  it('the judge accepts a secret where it is allowed', () =>
    expectNoViolation(({ documents }) => documents.push({ source: 'the vault of ann', text: 'canary-1' })))
})

it('the judge reports an expired token that was renewed twice', () =>
  expectViolation('renewal', /ann.test on bluesky expired 1 times and were renewed 2 times/, ({ platforms }) => {
    platforms[0]!.renewals = [{ account: 'ann.test', actual: 2, expected: 1 }]
  }))

it('the judge reports a callback that was used twice', () =>
  expectViolation('connect', /2 token requests for 1 valid callbacks/, ({ platforms }) => {
    platforms[0]!.exchanges = { actual: 2, expected: 1 }
  }))

describe('I8', () => {
  it('the judge reports a process that ended unexpectedly', () =>
    expectViolation('I8', /worker-1 ended with code 1 unexpectedly/, ({ exits }) => {
      exits.push({ process: 'worker-1', at: T0, how: 'ended with code 1', intended: false })
    }))

  it('the judge reports a 500', () =>
    expectViolation('I8', /returned 500: Internal server error/, ({ operations }) => {
      operations.push(operation('read', { status: 500, body: { message: 'Internal server error' } }))
    }))

  it('the judge reports a 503 while every server was up', () =>
    expectViolation('I8', /returned 503 while every server was up/, ({ operations }) => {
      operations.push(operation('read', { status: 503 }))
    }))

  it.each([
    ['accepts', 'The database is busy. Try again in a moment.'],
    ['reports', 'Service unavailable'],
  ])('while a frozen worker may hold a record, the judge %s the 503 "%s"', (verdict, message) => {
    const change = ({ operations, outages }: Evidence) => {
      outages.push({ process: 'worker-1', from: at(1), until: at(4) })
      operations.push(operation('delete', { sentAt: at(2), status: 503, body: { message } }))
    }
    if (verdict === 'accepts') return expectNoViolation(change)
    return expectViolation('I8', /returned 503 while every server was up/, change)
  })

  it('the judge reports a request without a response', () =>
    expectViolation('I8', /got no response, although api-1 was up/, ({ operations }) => {
      operations.push(operation('read', { status: null, answeredAt: null }))
    }))

  it('the judge accepts a 503 while MongoDB is down, a 502 for a platform, and intended exits', () =>
    expectNoViolation(({ operations, outages, exits }) => {
      outages.push({ process: 'mongod', from: at(1), until: at(4) })
      operations.push(operation('read', { sentAt: at(3), status: 503 }), operation('other', { status: 502 }))
      exits.push({ process: 'mongod', at: at(1), how: 'was stopped by SIGKILL', intended: true })
    }))
})

describe('I9', () => {
  const feed = () => [event(1, 'evt_p1-0-0', 'post.created'), accepted(2), event(3, 'evt_p1-3-1', 'post.published')]
  const withFeed = (change: (events: StoredEvent[], evidence: Evidence) => void) => (evidence: Evidence) => {
    evidence.events = feed()
    change(evidence.events, evidence)
  }

  it('the judge accepts a feed that equals the changes', () => expectNoViolation(withFeed(() => {})))

  it('the judge reports a missing event', () => {
    for (const missing of feed().keys()) {
      expectViolation(
        'I9',
        /post p1/,
        withFeed((events) => {
          events.splice(missing, 1)
          events.forEach((one, index) => void (one.sequence = index + 1))
        }),
      )
    }
  })

  it('the judge reports an event that is stored twice', () =>
    expectViolation(
      'I9',
      /stored 2 times/,
      withFeed((events) => events.push({ ...events[1]!, sequence: 4 })),
    ))

  it('the judge reports a gap in the sequences of a user', () =>
    expectViolation(
      'I9',
      /has the sequence 4 at place 3/,
      withFeed((events) => void (events[2]!.sequence = 4)),
    ))

  it('the judge reports events that are still with their post', () =>
    expectViolation(
      'I9',
      /1 events that are not in the feed/,
      withFeed((_, { posts }) => void (posts[0]!.pendingEvents = [{}])),
    ))

  it('the judge reports an acceptance that no platform has', () =>
    expectViolation(
      'I9',
      /names at:\/\/none, which no platform has/,
      withFeed((events) => void events.splice(1, 1, accepted(2, 'at://none'))),
    ))

  it('the judge reports the deletion of a post that is still stored', () =>
    expectViolation(
      'I9',
      /has 1 events post.deleted, but should have 0/,
      withFeed((events) => events.push(event(4, 'evt_p1-deleted', 'post.deleted'))),
    ))

  it('the judge reports events of a post that no request created', () =>
    expectViolation(
      'I9',
      /which no create made/,
      withFeed((events) => events.push(event(4, 'evt_p9-0-0', 'post.created', { postId: 'p9' }))),
    ))

  it('the judge reports a failed round without an event', () =>
    expectViolation(
      'I9',
      /has 0 events of the failures/,
      withFeed((events, evidence) => {
        evidence.posts[0]!.platformStatuses[0]!.delivery.round = 1
        evidence.notifications.push(notification('post-failed:p1:bluesky:0'))
        events[2]!.type = 'post.published'
      }),
    ))
})

describe('I10', () => {
  const stored = (sequence: number): StoredEvent => ({
    _id: `evt_${sequence}`,
    userId: USER,
    sequence,
    type: 'plan.changed',
    data: {},
  })
  const got = (sequence: number, fields: Partial<ReceivedEvent> = {}): ReceivedEvent => {
    const id = `evt_${sequence}`
    return { id, sequence, type: 'plan.changed', headerId: id, isSigned: true, ...fields }
  }
  /** The feed has two events besides those of the post, which the webhook has got. */
  const withWebhook = (received: ReceivedEvent[]) => (evidence: Evidence) => {
    evidence.posts = []
    evidence.operations = []
    evidence.users = []
    evidence.notifications = []
    evidence.platforms = []
    evidence.events = [stored(1), stored(2)]
    evidence.webhooks = [{ userId: USER, received }]
  }

  it('a repeated event is no violation', () => expectNoViolation(withWebhook([got(2), got(1), got(2)])))

  it('the judge reports an event that did not arrive', () =>
    expectViolation('I10', /evt_2 \(plan\.changed, 2\) did not reach the webhook/, withWebhook([got(1)])))

  it('the judge reports an event without a valid signature', () =>
    expectViolation('I10', /evt_2 without a valid/, withWebhook([got(1), got(2), got(2, { isSigned: false })])))

  it('the judge reports an event that is not in the feed', () =>
    expectViolation('I10', /evt_3, which is not in the feed/, withWebhook([got(1), got(2), got(3)])))

  it('the judge reports an event that arrived with another id or sequence', () => {
    expectViolation('I10', /with the id evt_9/, withWebhook([got(1), got(2, { headerId: 'evt_9' })]))
    expectViolation('I10', /as plan\.changed 7/, withWebhook([got(1), got(2, { sequence: 7 })]))
  })
})
