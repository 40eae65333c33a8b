import type { SandboxResponse } from '../proxied-platform.ts'
import type { Crowd } from '../shared/crowd.ts'
import { inWordsOf } from '../shared/metric-words.ts'
import type { Params } from '../shared/params.ts'
import { Refusal } from './refusal.ts'
import type { MediaStore } from './media.ts'
import type { Account, State, Status } from './state.ts'
import { toHtml } from './text.ts'

/** Mastodon's names of our counts. */
export const WORDS = { likes: 'favourites', shares: 'reblogs', comments: 'replies' }
const KEY_LIFE_MS = 3_600_000
const VISIBILITIES = ['public', 'unlisted', 'private', 'direct']
const MAX_PAGE_SIZE = 40
const MAX_IDS = 20

interface StatusesOptions {
  state: State
  media: MediaStore
  base(): string
  maxCharacters: number
  /** How the server counts a text with its content warning. */
  lengthOf(text: string, warning: string): number
  /** False for servers that accept the `Idempotency-Key` and ignore it. */
  honoursKeys: boolean
  /** False for servers that do not report which statuses were edited. */
  reportsEdits: boolean
  /** False for servers without quotes. */
  countsQuotes: boolean
  crowd: Crowd
}

export function createStatuses(options: StatusesOptions) {
  const { state, media, base, maxCharacters, lengthOf, honoursKeys, reportsEdits, countsQuotes, crowd } = options
  const ofAccount = new Map<string, Status[]>()
  for (const status of state.statuses.values()) listOf(status.accountId).push(status)

  /** Returns the statuses of an account, oldest first. */
  function listOf(accountId: string): Status[] {
    const list = ofAccount.get(accountId) ?? []
    ofAccount.set(accountId, list)
    return list
  }

  /**
   * Creates a status. Like the real server, it checks the parent first, and returns the first result for a repeated key, whatever the
   * content.
   */
  function create(account: Account, clientId: string, params: Params, key: string | undefined): SandboxResponse {
    assertParent(account, params)
    const keyOf = key === undefined || key === '' ? null : `${account.id}/${key}`
    const known = keyOf === null || !honoursKeys ? undefined : state.idempotency.get(keyOf)
    if (known && known.until > Date.now()) return { status: 200, body: present(find(known.statusId)) }
    const status = publish(account, clientId, params)
    if (keyOf !== null) state.idempotency.set(keyOf, { statusId: status.id, until: Date.now() + KEY_LIFE_MS })
    return { status: 200, body: present(status) }
  }

  /** `set_thread` of the real server's statuses controller. */
  function assertParent(account: Account, params: Pick<Params, 'text'>): void {
    const id = params.text('in_reply_to_id') ?? ''
    const parent = state.statuses.get(id)
    if (id === '' || (parent && isFor(account, parent))) return
    throw new Refusal(404, 'The post you are trying to reply to does not appear to exist.')
  }

  function publish(
    account: Account,
    clientId: string,
    params: Pick<Params, 'text' | 'list' | 'json'>,
    createdAt = new Date(),
  ): Status {
    const text = (params.text('status') ?? '').trim()
    const attached = media.attachable(account, params.list('media_ids'))
    const visibility = params.text('visibility') ?? 'public'
    if (!VISIBILITIES.includes(visibility)) {
      throw new Refusal(422, `Validation failed: Visibility is not included in the list`)
    }
    if (params.text('scheduled_at') !== undefined) {
      throw new Refusal(422, 'Validation failed: Scheduled at must be a valid date')
    }
    const inReplyToId = params.text('in_reply_to_id') || undefined
    const spoilerText = params.text('spoiler_text')
    const poll = readPoll(params.json)
    assertContent(text, { attached, spoilerText, poll })
    const status: Status = {
      id: state.newId(),
      accountId: account.id,
      text,
      visibility,
      language: params.text('language') ?? null,
      mediaIds: attached.map(({ id }) => id),
      clientId,
      createdAt: createdAt.toISOString(),
      ...(spoilerText && { spoilerText }),
      ...((params.text('sensitive') === 'true' || spoilerText) && { sensitive: true }),
      ...(poll && { poll }),
      ...(inReplyToId !== undefined && { inReplyToId }),
    }
    for (const one of attached) state.media.set(one.id, { ...one, statusId: status.id })
    state.statuses.set(status.id, status)
    listOf(account.id).push(status)
    return status
  }

  function assertContent(
    text: string,
    {
      attached,
      spoilerText = '',
      poll,
    }: { attached: unknown[]; spoilerText: string | undefined; poll: Status['poll'] },
  ): void {
    if (text === '' && attached.length === 0) throw new Refusal(422, "Validation failed: Text can't be blank")
    if (lengthOf(text, spoilerText) > maxCharacters) {
      throw new Refusal(422, `Validation failed: Text character limit of ${maxCharacters} exceeded`)
    }
    if (poll && attached.length > 0)
      throw new Refusal(422, 'Validation failed: Cannot attach media to a post with a poll')
  }

  /**
   * Edits a status as `UpdateStatusService` of the real server does: what the call leaves out is removed, except the language; a call that
   * changes nothing leaves no edit.
   */
  function edit(account: Account, id: string, params: Params): SandboxResponse {
    const before = findOwn(account, id)
    const text = (params.text('status') ?? '').trim()
    const attached = media.attachable(account, params.list('media_ids'), id)
    const spoilerText = params.text('spoiler_text') || undefined
    const poll = readPoll(params.json)
    assertContent(text, { attached, spoilerText, poll })
    const { spoilerText: _, sensitive: __, poll: previous, ...kept } = before
    const after: Status = {
      ...kept,
      ...{ text, mediaIds: attached.map((one) => one.id), language: params.text('language') ?? before.language },
      ...(spoilerText && { spoilerText }),
      ...((params.text('sensitive') === 'true' || spoilerText) && { sensitive: true }),
      ...(poll && { poll }),
    }
    const toComparable = ({ text: shown, mediaIds, language, ...one }: Status) =>
      JSON.stringify([shown, mediaIds, language, one.spoilerText, one.sensitive])
    // Its end is computed anew, so a poll that is sent again changes the status.
    const isChanged = toComparable(after) !== toComparable(before) || Boolean(poll ?? previous)
    return { status: 200, body: present(isChanged ? replace(before, after) : before) }
  }

  function replace(before: Status, after: Status): Status {
    const edited = { ...after, editedAt: new Date().toISOString(), edits: [...(before.edits ?? []), after.text] }
    const list = listOf(before.accountId)
    list[list.indexOf(before)] = edited
    return state.statuses.set(before.id, edited)
  }

  function find(id: string): Status {
    const status = state.statuses.get(id)
    if (!status) throw new Refusal(404, 'Record not found')
    return status
  }

  function isFor(reader: Account | null, { accountId, visibility }: Status): boolean {
    return visibility === 'public' || visibility === 'unlisted' || accountId === reader?.id
  }

  function findFor(reader: Account | null, id: string): Status {
    const status = find(id)
    if (!isFor(reader, status)) throw new Refusal(404, 'Record not found')
    return status
  }

  function findOwn(account: Account, id: string): Status {
    const status = find(id)
    if (status.accountId !== account.id) throw new Refusal(404, 'Record not found')
    return status
  }

  function remove(status: Status): void {
    state.statuses.delete(status.id)
    const list = listOf(status.accountId)
    list.splice(list.indexOf(status), 1)
  }

  function html({ text }: Status): string {
    const usernames = new Set(state.accounts.values().map(({ username }) => username))
    return toHtml(text, base(), (username) => usernames.has(username))
  }

  function urlOf({ accountId, id }: Status): string {
    return `${base()}/@${state.accounts.get(accountId)!.username}/${id}`
  }

  function present(status: Status) {
    const account = state.accounts.get(status.accountId)!
    const app = state.apps.get(status.clientId)
    const counts = countsOf(status)
    // The real server forgets a deleted parent.
    const parent = state.statuses.get(status.inReplyToId ?? '')
    return {
      id: status.id,
      created_at: status.createdAt,
      in_reply_to_id: parent?.id ?? null,
      in_reply_to_account_id: parent?.accountId ?? null,
      sensitive: status.sensitive ?? false,
      spoiler_text: status.spoilerText ?? '',
      visibility: status.visibility,
      language: status.language,
      uri: `${base()}/users/${account.username}/statuses/${status.id}`,
      url: urlOf(status),
      replies_count: counts['replies'] ?? 0,
      reblogs_count: counts['reblogs'] ?? 0,
      favourites_count: counts['favourites'] ?? 0,
      ...(countsQuotes && { quotes_count: counts['quotes'] ?? 0 }),
      ...(reportsEdits && { edited_at: status.editedAt ?? null }),
      content: html(status),
      reblog: null,
      application: app ? { name: app.name, website: app.website } : null,
      account: presentAccount(account),
      media_attachments: status.mediaIds.map(media.presentAttached),
      mentions: [],
      tags: [],
      emojis: [],
      card: null,
      poll: status.poll ? presentPoll(status) : null,
    }
  }

  function countsOf({ text, createdAt, metrics }: Status): Record<string, number> {
    return { ...inWordsOf(WORDS, crowd.countsOf({ text, publishedAt: Date.parse(createdAt) }, Date.now())), ...metrics }
  }

  function presentAccount(account: Account) {
    const counts = account.metrics ?? {}
    return {
      id: account.id,
      username: account.username,
      acct: account.username,
      display_name: account.displayName,
      locked: false,
      bot: false,
      created_at: account.createdAt,
      note: account.note,
      url: `${base()}/@${account.username}`,
      avatar: `${base()}/avatars/${account.id}.png`,
      avatar_static: `${base()}/avatars/${account.id}.png`,
      followers_count: counts['followers'] ?? crowd.followers(Date.now()),
      following_count: counts['following'] ?? 0,
      statuses_count: listOf(account.id).length,
      emojis: [],
      fields: [],
    }
  }

  return {
    create,
    edit,
    find,
    findFor,
    findOwn,
    remove,
    html,
    present,
    presentAccount,
    urlOf,
    listOf,

    source: (account: Account, id: string): SandboxResponse => {
      const status = findOwn(account, id)
      return { status: 200, body: { id: status.id, text: status.text, spoiler_text: status.spoilerText ?? '' } }
    },

    /** Leaves out statuses that do not exist or that this reader may not see. */
    several(reader: Account | null, ids: string[]): SandboxResponse {
      const wanted = new Set(ids)
      if (wanted.size > MAX_IDS) throw new Refusal(422, 'Mastodon::ValidationError')
      const found = [...wanted].flatMap((id) => state.statuses.get(id) ?? [])
      return { status: 200, body: found.filter((status) => isFor(reader, status)).map(present) }
    },

    /** Returns a page of an account's statuses, newest first. */
    page(accountId: string, params: Params): SandboxResponse {
      if (!state.accounts.get(accountId)) throw new Refusal(404, 'Record not found')
      const limit = Math.min(Number(params.text('limit') ?? 20) || 20, MAX_PAGE_SIZE)
      const [maxId, minId] = [params.text('max_id'), params.text('min_id') ?? params.text('since_id')]
      const found = listOf(accountId).filter(
        ({ id }) =>
          (maxId === undefined || BigInt(id) < BigInt(maxId)) && (minId === undefined || BigInt(id) > BigInt(minId)),
      )
      const page = params.text('min_id') === undefined ? found.slice(-limit) : found.slice(0, limit)
      return { status: 200, body: page.toReversed().map(present) }
    },

    /** Publishes as a user does in the web client, which is another application. */
    publishElsewhere(account: Account, text: string, createdAt = new Date()): Status {
      const web = state.apps.values().find(({ name }) => name === 'Web')!
      const params: Pick<Params, 'text' | 'list' | 'json'> = {
        json: undefined,
        text: (name) => (name === 'status' ? text : undefined),
        list: () => [],
      }
      return publish(account, web.clientId, params, createdAt)
    },

    /** Changes the text of a status, as its author can. */
    rewrite(id: string, text: string): void {
      const before = find(id)
      replace(before, { ...before, text })
    },
  }
}

export type Statuses = ReturnType<typeof createStatuses>

/** The defaults of `configuration.polls` (https://docs.joinmastodon.org/entities/Instance/). */
const POLLS = { options: 4, characters: 50, least: 300, most: 2_629_746 }

/** Reads the poll of a status from its JSON body, with the checks of PollExpirationValidator and PollOptionsValidator. */
function readPoll(json: unknown): Status['poll'] {
  const { poll } = (json ?? {}) as { poll?: Record<string, unknown> }
  if (!poll) return undefined
  const options = (poll['options'] as string[]).map((option) => option.trim())
  const expiresIn = Number(poll['expires_in'])
  const refuse = (message: string) => new Refusal(422, `Validation failed: ${message}`)
  if (options.length < 2) throw refuse('Options must be more than one item')
  if (options.length > POLLS.options) throw refuse(`Options can't contain more than ${POLLS.options} items`)
  if (options.some((option) => option === '' || [...option].length > POLLS.characters)) {
    throw refuse(`Options can't be longer than ${POLLS.characters} characters each`)
  }
  if (new Set(options).size < options.length) throw refuse('Options contains duplicate items')
  if (expiresIn > POLLS.most) throw refuse('Expires at is too far into the future')
  if (!(expiresIn >= POLLS.least)) throw refuse('Expires at is too soon')
  return { options, expiresIn, multiple: poll['multiple'] === true, hideTotals: poll['hide_totals'] === true }
}

function presentPoll({ id, createdAt, poll }: Status) {
  return {
    id,
    expires_at: new Date(Date.parse(createdAt) + poll!.expiresIn * 1_000).toISOString(),
    expired: false,
    multiple: poll!.multiple,
    votes_count: 0,
    options: poll!.options.map((title) => ({ title, votes_count: poll!.hideTotals ? null : 0 })),
  }
}
