import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { Plug } from 'lucide-react'
import { useState } from 'react'
import { useBrand, type Brand } from '../../session/brand.ts'
import { client, useUser } from '../../session/session.ts'
import { isNotFound } from '../../shared/errors.ts'
import type { Account } from '../../shared/platforms.tsx'
import { useAccounts } from '../../shared/accounts.ts'
import { Page } from '../../shared/page.tsx'
import { Empty, Loading, QueryView } from '../../shared/states.tsx'
import { toWallTime } from '../../shared/wall-times.ts'
import { NotFoundPage } from '../../shell/not-found.tsx'
import { Composer } from './composer.tsx'
import { chooseDefaults, emptyDraft, fromPost, type DraftMedia } from './draft.ts'

export interface ComposeSearch {
  /** A draft or waiting post to edit. */
  id?: string
  /** The instant of a slot in the calendar. */
  at?: string
  /** The view of the calendar with this slot, to return to. */
  view?: 'day' | 'week'
  text?: string
  /** A file of the media library. */
  media?: string
}

export function ComposePage() {
  const { id } = useSearch({ from: '/signed-in/compose' })
  const { _id: userId } = useUser()
  const { brand } = useBrand()
  const accounts = useAccounts()
  return (
    <QueryView query={accounts}>
      {(list) =>
        id !== undefined ? (
          <EditPost key={`${userId} ${id}`} id={id} accounts={list} />
        ) : list.length === 0 ? (
          <Page title="New post">
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
          </Page>
        ) : (
          <NewPost key={`${userId} ${brand?.id}`} accounts={list} brand={brand} />
        )
      }
    </QueryView>
  )
}

function NewPost({ accounts, brand }: { accounts: Account[]; brand: Brand | null }) {
  const { text, at = '', media } = useSearch({ from: '/signed-in/compose' })
  const { timezone } = useUser()
  const isTime = Number.isFinite(Date.parse(at))
  // An account that is read again while the page is open changes no choice.
  const [empty] = useState(() => emptyDraft(chooseDefaults(accounts, brand)))
  const file = useQuery({
    queryKey: ['media', media],
    queryFn: () => client.media.get(media!),
    enabled: media !== undefined,
  })
  if (file.isLoading) return <Loading />
  return (
    <Composer
      stored={empty}
      given={{
        text,
        at: isTime ? { time: toWallTime(at, timezone), timezone } : undefined,
        media: file.data && toDraftMedia(file.data),
      }}
      accounts={accounts}
    />
  )
}

function toDraftMedia(file: components['schemas']['LibraryMedia']): DraftMedia {
  const { storageKey, storageUrl, mimeType, sizeBytes, originalFilename } = file
  return {
    storageKey,
    storageUrl,
    mimeType,
    ...(sizeBytes !== null && { sizeBytes }),
    ...(originalFilename !== undefined && { originalFilename }),
  }
}

function EditPost({ id, accounts }: { id: string; accounts: Account[] }) {
  const detail = useQuery({
    queryKey: ['posts', id, 'edit'],
    queryFn: async () => (await client.request('GET', '/api/posts/{postId}', { path: { postId: id } })).post,
    // Editing begins with what the service has now.
    gcTime: 0,
  })
  const isGone = isNotFound(detail.error)
  if (isGone && !detail.data) return <NotFoundPage />
  return (
    <QueryView query={detail}>
      {(post) => (
        <Composer
          stored={fromPost(post)}
          accounts={accounts}
          post={post}
          isGone={isGone}
          refresh={() => void detail.refetch()}
        />
      )}
    </QueryView>
  )
}
