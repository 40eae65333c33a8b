import {
  Anchor,
  Button,
  Group,
  Image,
  Paper,
  Pagination,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { Images } from 'lucide-react'
import { client } from '../../session/session.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { showDone, showError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow } from '../../shared/times.ts'

type Media = components['schemas']['LibraryMedia']

export interface MediaSearch {
  page?: number
  kind?: 'image' | 'video'
  used?: 'true' | 'false'
}

const PAGE_SIZE = 24
const inUnit = (unit: 'kilobyte' | 'megabyte') =>
  new Intl.NumberFormat(undefined, { style: 'unit', unit, maximumFractionDigits: 1 })
const kilobytes = inUnit('kilobyte')
const megabytes = inUnit('megabyte')
const toSize = (bytes: number) =>
  bytes < 1_000_000 ? kilobytes.format(bytes / 1_000) : megabytes.format(bytes / 1_000_000)

export function MediaPage() {
  const search = useSearch({ from: '/signed-in/media' })
  const navigate = useNavigate({ from: '/media' })
  const query = { limit: PAGE_SIZE, ...search }
  const library = useQuery({
    queryKey: ['media', query],
    queryFn: () => client.media.list(query),
    placeholderData: keepPreviousData,
  })
  const filter = (change: Omit<MediaSearch, 'page'>) => {
    const { page: _, ...rest } = { ...search, ...change }
    void navigate({ search: rest, replace: true })
  }
  return (
    <Page title="Media" lead="What you uploaded, and where it is used.">
      <Group>
        <SegmentedControl
          aria-label="Kind"
          value={search.kind ?? ''}
          onChange={(kind) => filter({ kind: kind === 'image' || kind === 'video' ? kind : undefined } as MediaSearch)}
          data={[
            { value: '', label: 'All' },
            { value: 'image', label: 'Pictures' },
            { value: 'video', label: 'Videos' },
          ]}
        />
        <SegmentedControl
          aria-label="Use"
          value={search.used ?? ''}
          onChange={(used) => filter({ used: used === 'true' || used === 'false' ? used : undefined } as MediaSearch)}
          data={[
            { value: '', label: 'All' },
            { value: 'true', label: 'Used' },
            { value: 'false', label: 'Unused' },
          ]}
        />
      </Group>
      <QueryView query={library}>
        {({ media, totalPages, page }) =>
          media.length === 0 ? (
            <Empty
              icon={Images}
              title="No files here"
              action={
                <Button component={Link} to="/compose">
                  Write a post
                </Button>
              }
            >
              Pictures and videos appear here when you add them to a post. Unused ones are deleted after a day or two.
            </Empty>
          ) : (
            <Stack>
              <SimpleGrid component="ul" cols={{ base: 2, sm: 3, lg: 4, xl: 6 }} m={0} p={0}>
                {media.map((item) => (
                  <MediaCard key={item.id} item={item} />
                ))}
              </SimpleGrid>
              {totalPages > 1 && (
                <Pagination
                  total={totalPages}
                  value={page}
                  onChange={(number) => void navigate({ search: { ...search, page: number } })}
                />
              )}
            </Stack>
          )
        }
      </QueryView>
    </Page>
  )
}

function MediaCard({ item }: { item: Media }) {
  const { id, storageUrl, mimeType, sizeBytes, originalFilename = 'Without a name', createdAt, postCount, posts } = item
  const queries = useQueryClient()
  const deleting = useMutation({
    mutationFn: () => client.media.delete(id),
    onError: showError,
    onSuccess: () => showDone('The file is deleted.'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['media'] }),
  })
  const askToDelete = () =>
    askToConfirm({
      title: `Delete ${originalFilename}?`,
      children: <Text size="sm">It is deleted permanently. Posts that are published keep it on their platforms.</Text>,
      labels: { confirm: 'Delete', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => deleting.mutate(),
    })
  return (
    <Paper component="li" withBorder p="xs" className="surface" display="block">
      {mimeType.startsWith('video/') ? (
        <video src={storageUrl} height={140} width="100%" preload="metadata" controls aria-label={originalFilename} />
      ) : (
        <Image src={storageUrl} alt="" h={140} radius="sm" fit="cover" loading="lazy" />
      )}
      <Stack gap={2} mt="xs">
        <Text size="sm" truncate title={originalFilename}>
          {originalFilename}
        </Text>
        <Text size="xs" c="dimmed">
          {sizeBytes === null ? '' : `${toSize(sizeBytes)}, `}
          {fromNow(createdAt)}
        </Text>
        <Text size="xs">
          {postCount === 0 ? (
            'Unused'
          ) : (
            <Anchor component={Link} to={`/posts/${posts[0]?.postId}`} size="xs">
              {postCount === 1 ? 'Used in a post' : `Used in ${postCount} posts`}
            </Anchor>
          )}
        </Text>
        <Group gap={4} mt={4}>
          <Button
            size="compact-xs"
            variant="default"
            renderRoot={(props) => <Link to="/compose" search={{ media: id }} {...props} />}
          >
            Use in a post
          </Button>
          <Button size="compact-xs" variant="subtle" color="red" loading={deleting.isPending} onClick={askToDelete}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
