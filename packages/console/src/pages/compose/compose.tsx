import { Alert, Button, Group, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ApiError, type components } from '@postonce/sdk'
import { Plug } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { client } from '../../session/session.ts'
import { describeError, isNotFound, showDone } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import type { Account } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { isPast, toWallTime, useTimes } from '../../shared/times.ts'
import { NotFoundPage } from '../../shell/not-found.tsx'
import { Captions } from './captions.tsx'
import { emptyDraft, fromPost, toPost, type Draft } from './draft.ts'
import { MediaField } from './media-field.tsx'
import { Preview } from './preview.tsx'
import { Problems } from './problems.tsx'
import { Targets } from './targets.tsx'
import { forgetUnsaved, keepUnsaved, readUnsaved } from './unsaved.ts'
import { Variants } from './variants.tsx'
import { When } from './when.tsx'

type Post = components['schemas']['Post']

export interface ComposeSearch {
  /** A draft or waiting post to edit. */
  id?: string
  /** The instant of a slot in the calendar. */
  at?: string
}

/** How long nothing was typed before the service is asked about the post. */
const TYPING_MS = 500

export function ComposePage() {
  const { id, at } = useSearch({ from: '/signed-in/compose' })
  const accounts = useQuery({ queryKey: ['accounts'], queryFn: () => client.accounts.list() })
  return (
    <QueryView query={accounts}>
      {(list) =>
        id !== undefined ? (
          <EditPost key={id} id={id} accounts={list} />
        ) : list.length === 0 ? (
          <Empty
            icon={Plug}
            title="Connect an account first"
            action={
              <Button component={Link} to="/accounts">
                Accounts
              </Button>
            }
          >
            Then write a post for it.
          </Empty>
        ) : (
          <NewPost key={at} at={at} accounts={list} />
        )
      }
    </QueryView>
  )
}

function NewPost({ at, accounts }: { at: string | undefined; accounts: Account[] }) {
  const { timezone } = useTimes()
  const initial = useMemo(
    () =>
      emptyDraft(
        accounts.filter(({ isDefault }) => isDefault).map(({ _id }) => _id),
        at === undefined ? null : { time: toWallTime(at, timezone), timezone },
      ),
    // Only when the page opens: an account that is refreshed meanwhile changes no choice.
    [],
  )
  return <Composer initial={initial} accounts={accounts} />
}

function EditPost({ id, accounts }: { id: string; accounts: Account[] }) {
  const detail = useQuery({
    queryKey: ['posts', id, 'edit'],
    queryFn: async () => (await client.request('GET', '/api/posts/{postId}', { path: { postId: id } })).post,
    // What was read is what is edited, until the user asks for the newer one.
    staleTime: Infinity,
    gcTime: 0,
  })
  if (isNotFound(detail.error)) return <NotFoundPage />
  return (
    <QueryView query={detail}>
      {(post) => (
        <Composer
          key={post.etag}
          initial={fromPost(post, accounts)}
          accounts={accounts}
          post={post}
          reload={() => void detail.refetch()}
        />
      )}
    </QueryView>
  )
}

interface ComposerProps {
  initial: Draft
  accounts: Account[]
  post?: Post
  /** Reads the stored post again, and drops what was typed. */
  reload?: () => void
}

function Composer({ initial, accounts, post, reload }: ComposerProps) {
  const postId = post?._id
  const [restored, setRestored] = useState(() => readUnsaved(postId))
  const [draft, setDraft] = useState<Draft>(restored ?? initial)
  const [isStored, setStored] = useState(false)
  useEffect(() => {
    if (isStored || draft === initial) return
    keepUnsaved(postId, draft)
  }, [draft, initial, isStored, postId])

  const body = toPost(draft, accounts)
  const [settled] = useDebouncedValue(body, TYPING_MS)
  const isEmpty = draft.text.trim() === '' && draft.media.length === 0
  const report = useQuery({
    queryKey: ['validate', settled],
    queryFn: ({ signal }) => client.posts.validate(settled, { signal }),
    enabled: !isEmpty && settled.selectedAccounts?.length !== 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const chosen = accounts.filter(({ _id }) => draft.accounts.includes(_id))
  const change = (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part }))
  const discard = () => {
    forgetUnsaved(postId)
    setRestored(null)
    setDraft(initial)
  }
  return (
    <Page title={post ? (post.status === 'DRAFT' ? 'Edit the draft' : 'Edit the post') : 'New post'}>
      {restored && (
        <Alert variant="light" title="Restored what you had not saved">
          <Button size="compact-sm" variant="default" onClick={discard}>
            Discard it
          </Button>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Stack gap="lg">
          <Section title="Publish on">
            <Targets
              accounts={accounts.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault))}
              chosen={draft.accounts}
              report={isEmpty ? undefined : report.data}
              onChange={(ids) => change({ accounts: ids })}
            />
          </Section>
          <Section
            title="Text and files"
            actions={<Captions text={draft.text} onChoose={(text) => change({ text })} />}
          >
            <Stack>
              <Textarea
                aria-label="Text"
                placeholder="What do you want to say?"
                autosize
                minRows={5}
                maxRows={20}
                autoFocus
                value={draft.text}
                onChange={({ currentTarget }) => change({ text: currentTarget.value })}
              />
              <MediaField
                media={draft.media}
                onChange={(of) => setDraft((current) => ({ ...current, media: of(current.media) }))}
              />
            </Stack>
          </Section>
          <Section title="Variants">
            <Variants draft={draft} accounts={chosen} onChange={setDraft} />
          </Section>
          <Section title="When">
            <When at={draft.at} onChange={(at) => change({ at })} />
          </Section>
          {!isEmpty && report.data && (
            <Problems errors={report.data.errors} warnings={report.data.warnings} accounts={accounts} />
          )}
          {report.isError && (
            <Text size="sm" c="dimmed" role="status">
              The post could not be checked. {describeError(report.error)}
            </Text>
          )}
          <Actions
            draft={draft}
            body={body}
            post={post}
            isEmpty={isEmpty}
            reload={() => {
              forgetUnsaved(postId)
              reload?.()
            }}
            onStored={() => {
              setStored(true)
              forgetUnsaved(postId)
            }}
          />
        </Stack>
        <Stack gap="md" component="aside" aria-label="Previews">
          {chosen.map((account) => (
            <Preview key={account._id} draft={draft} account={account} />
          ))}
          {chosen.length === 0 && <Text c="dimmed">Choose an account to see the post there.</Text>}
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

interface ActionsProps {
  draft: Draft
  body: components['schemas']['CreatePost']
  post: Post | undefined
  isEmpty: boolean
  reload: () => void
  onStored: () => void
}

/** Stores the post. The same content has the same idempotency key, so that a repeated click makes one post. */
function Actions({ draft, body, post, isEmpty, reload, onStored }: ActionsProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const keys = useRef({ content: '', key: '' })
  const storing = useMutation({
    mutationFn: async ({ isDraft, overwrite }: { isDraft: boolean; overwrite: boolean }) => {
      const content = { ...body, ...(isDraft ? { status: 'DRAFT' as const } : {}) }
      if (!post) {
        const text = JSON.stringify(content)
        if (keys.current.content !== text) keys.current = { content: text, key: crypto.randomUUID() }
        return (await client.posts.create(content, { idempotencyKey: keys.current.key })).postId
      }
      const status = isDraft ? {} : { status: draft.at === null ? ('PENDING' as const) : ('SCHEDULED' as const) }
      const edited = await client.request('PATCH', '/api/posts/{postId}', {
        path: { postId: post._id },
        body: { ...body, ...status },
        ...(!overwrite && { ifMatch: post.etag }),
      })
      return edited.postId
    },
    onSuccess: async (postId, { isDraft }) => {
      onStored()
      await Promise.all(['posts', 'subscription', 'media'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
      showDone(
        isDraft ? 'The draft is saved.' : draft.at === null ? 'The post is being published.' : 'The post is scheduled.',
      )
      await navigate({ to: '/posts/$postId', params: { postId } })
    },
  })
  const isOver = draft.at !== null && isPast(draft.at)
  const isWaiting = post !== undefined && post.status !== 'DRAFT'
  const store = (isDraft: boolean, overwrite = false) => storing.mutate({ isDraft, overwrite })
  const wasChanged = storing.error instanceof ApiError && storing.error.status === 412
  return (
    <Stack>
      {wasChanged ? (
        <Alert color="yellow" title="The post was changed elsewhere meanwhile">
          <Group gap="xs">
            <Button size="xs" onClick={() => store(storing.variables?.isDraft ?? false, true)}>
              Keep mine
            </Button>
            <Button size="xs" variant="default" onClick={reload}>
              Load theirs
            </Button>
          </Group>
        </Alert>
      ) : (
        storing.isError && (
          <Alert color="red" title="The post was not stored">
            {describeError(storing.error)}
          </Alert>
        )
      )}
      <Group justify="flex-end">
        {!isWaiting && (
          <Button
            variant="default"
            disabled={isEmpty}
            loading={storing.isPending && storing.variables.isDraft}
            onClick={() => store(true)}
          >
            Save as draft
          </Button>
        )}
        <Button
          disabled={isEmpty || isOver || draft.accounts.length === 0}
          loading={storing.isPending && !storing.variables.isDraft}
          onClick={() => store(false)}
        >
          {draft.at === null ? 'Publish now' : isWaiting ? 'Save' : 'Schedule'}
        </Button>
      </Group>
    </Stack>
  )
}
