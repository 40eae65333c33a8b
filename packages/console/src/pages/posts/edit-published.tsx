import { Stack, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { problemsByField, showDone } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { PLATFORM_LIMITS } from '../../shared/platform-limits.ts'
import { PLATFORMS } from '../../shared/platforms.tsx'
import { DeliveryNames, type Delivery } from '../../shared/post-actions.tsx'
import { QueryView } from '../../shared/states.tsx'
import { fromNow } from '../../shared/times.ts'

type Schemas = components['schemas']
type Post = Schemas['Post']
type Limits = Record<Schemas['Platform'], Schemas['PlatformLimits']>

export const isPublished = ({ status, accountId, removal }: Delivery): boolean =>
  status === 'completed' && accountId !== null && removal?.status !== 'pending'

/** Opens the form that edits these deliveries of a post, and says which of them cannot be edited. */
export function askForEdit(post: Post, deliveries: Delivery[]): void {
  const done = () => modals.close(modalId)
  const modalId = modals.open({
    title: 'Edit the published post',
    children: <EditPublished post={post} deliveries={deliveries} done={done} />,
  })
}

interface EditProps {
  post: Post
  deliveries: Delivery[]
  done: () => void
}

/** Returns whether a delivery can be edited, as far as the console knows. */
export function useCanEdit(post: Post, delivery: Delivery): boolean {
  const { data } = useQuery(PLATFORM_LIMITS)
  return data !== undefined && isPublished(delivery) && whyNot(post, delivery, data) === null
}

function EditPublished(props: EditProps) {
  const limits = useQuery(PLATFORM_LIMITS)
  return <QueryView query={limits}>{(found) => <EditForm {...props} limits={found} />}</QueryView>
}

function EditForm({ post, deliveries, done, limits }: EditProps & { limits: Limits }) {
  const queries = useQueryClient()
  const refused = deliveries.filter((one) => whyNot(post, one, limits) !== null)
  const edited = deliveries.filter((one) => !refused.includes(one))
  const [first] = edited
  const form = useForm({ initialValues: { content: { text: first ? currentText(post, first) : '' } } })
  const saving = useMutation({
    mutationFn: ({ content }: typeof form.values) => {
      const accounts = edited.flatMap(({ accountId }) => accountId ?? [])
      return client.posts.editPublished(post._id, { content, accounts })
    },
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['posts'] })
      showDone('The post is being edited.')
      done()
    },
  })
  const reasons = new Set(refused.flatMap((one) => whyNot(post, one, limits) ?? []))
  const notEdited = refused.length > 0 && (
    <>
      <Text size="sm">It stays as it is on:</Text>
      <DeliveryNames deliveries={refused} />
      {[...reasons].map((reason) => (
        <Text size="sm" key={reason}>
          {reason}
        </Text>
      ))}
    </>
  )
  if (edited.length === 0) return <Stack gap="sm">{notEdited}</Stack>
  return (
    <FieldForm sending={saving} onSubmit={form.onSubmit((values) => saving.mutate(values))} submit="Edit">
      <Text size="sm">The text is replaced on:</Text>
      <DeliveryNames deliveries={edited} />
      <Textarea
        label="Text"
        description={post.content.segments?.length ? 'Of the first post of the thread. The others stay.' : undefined}
        required
        autosize
        minRows={4}
        maxRows={16}
        data-autofocus
        {...form.getInputProps('content.text')}
      />
      {notEdited}
    </FieldForm>
  )
}

const contentOf = ({ content, ...post }: Post, { platform, accountId }: Delivery) => ({
  ...content,
  ...post.platformSpecificContent[platform],
  ...post.accountSpecificContent?.[accountId ?? ''],
})

const currentText = (post: Post, delivery: Delivery): string =>
  delivery.revisions?.findLast(({ status }) => status !== 'failed')?.text ?? contentOf(post, delivery).text

/** Returns why a published post cannot be edited; null when it can. */
function whyNot(post: Post, delivery: Delivery, limits: Limits): string | null {
  const { platform } = delivery
  const { editable, notEditableWith = [] } = limits[platform]
  const { name } = PLATFORMS[platform]
  if (!editable) return `${name} lets no program edit posts.`
  const { mediaItems, options } = contentOf(post, delivery)
  const has = {
    video: mediaItems.some(({ mimeType }) => mimeType.startsWith('video/')),
    poll: options?.mastodon?.poll !== undefined,
  }
  const obstacle = notEditableWith.find((part) => has[part])
  return obstacle === undefined ? null : `A post with a ${obstacle} cannot be edited on ${name}.`
}

/** The state of the last edit. */
export function LastEdit({ delivery: { revisions = [] } }: { delivery: Delivery }) {
  const edit = revisions.at(-1)
  if (!edit) return null
  const { status, requestedAt, completedAt, error } = edit
  if (status === 'failed') {
    return (
      <Text size="sm" c="red" className="user-text">
        Not edited. {error}
      </Text>
    )
  }
  return (
    <Text size="sm" c="dimmed">
      {status === 'pending' ? `Being edited, requested ${fromNow(requestedAt)}` : `Edited ${fromNow(completedAt!)}.`}
    </Text>
  )
}
