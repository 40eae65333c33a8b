import { Alert, Button, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useIsMutating } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { useMemo } from 'react'
import { describeError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { PLATFORMS, type Account } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { Captions } from './captions.tsx'
import { contentFor, isEmpty, listLost, toPost, type Draft, type Given } from './draft.ts'
import { FirstComment } from './first-comment.tsx'
import { Late } from './late.tsx'
import { MediaField } from './media-field.tsx'
import { MoreOptions } from './more-options.tsx'
import { Preview } from './preview.tsx'
import { Problems } from './problems.tsx'
import { ReportContext, useFieldError, useReport } from './report.ts'
import { StoreActions, STORING } from './store-actions.tsx'
import { Targets } from './targets.tsx'
import type { ThreadRules } from './thread-rules.ts'
import { Thread } from './thread.tsx'
import { Unsupported } from './unsupported.tsx'
import { useDraft } from './use-draft.ts'
import { useThreadRules } from './use-thread-rules.ts'
import { Variants } from './variants.tsx'
import { When } from './when.tsx'

type Post = components['schemas']['Post']

/** The field of the time shows by itself that it has passed. */
const isShown = ({ code }: components['schemas']['Problem']) => code !== 'SCHEDULED_IN_PAST'

interface ComposerProps {
  /** The content as the service has it now, or that of an empty post. */
  stored: Draft
  given?: Given
  accounts: Account[]
  /** The post that is edited, as it is stored now. */
  post?: Post
  /** The post was deleted meanwhile. */
  isGone?: boolean
  /** Reads the stored post again. */
  refresh?: () => void
}

export function Composer({ stored, given, accounts, post, isGone = false, refresh }: ComposerProps) {
  const state = useDraft({ postId: post?._id, stored, given })
  const { draft, setDraft } = state
  const body = useMemo(() => toPost(draft, accounts), [draft, accounts])
  const chosen = accounts.filter(({ _id }) => draft.accounts.includes(_id))
  const report = useReport(body, !isEmpty(draft) && chosen.length > 0)
  const isStoring = useIsMutating({ mutationKey: STORING }) > 0
  const rules = useThreadRules()
  const change = (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part }))
  return (
    <Page title={post ? (post.status === 'DRAFT' ? 'Edit the draft' : 'Edit the post') : 'New post'}>
      {state.isRestored && (
        <Alert variant="light" title="Restored what you had not saved">
          <Button size="compact-sm" variant="default" onClick={state.discard}>
            Discard it
          </Button>
        </Alert>
      )}
      {state.bringBack && (
        <Alert variant="light" title="This is the newer version">
          <Button size="compact-sm" variant="default" onClick={state.bringBack}>
            Bring back what I typed
          </Button>
        </Alert>
      )}
      <ReportContext value={report.data}>
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
          <Stack gap="lg" miw={0}>
            {/* What is typed while the post is being stored would not be part of it. */}
            <Stack gap="lg" inert={isStoring}>
              <Section title="Publish on">
                <Targets
                  accounts={accounts}
                  chosen={draft.accounts}
                  report={report.data}
                  onChange={(ids) => change({ accounts: ids })}
                />
                {post && <Lost post={post} accounts={accounts} />}
              </Section>
              <Section
                title="Text and files"
                actions={<Captions text={draft.text} onChoose={(text) => change({ text })} />}
              >
                <Texts draft={draft} setDraft={setDraft} accounts={chosen} rules={rules} />
              </Section>
              <MoreOptions options={draft.options} accounts={chosen} onChange={(options) => change({ options })} />
              <Section title="Variants">
                <Variants draft={draft} accounts={chosen} onChange={setDraft} />
              </Section>
              <Section title="When">
                <When at={draft.at} nextSlot={report.data?.nextSlot} onChange={(at) => change({ at })} />
                <Late ifLate={draft.ifLate} onChange={(ifLate) => change({ ifLate })} />
              </Section>
            </Stack>
            {report.data && (
              <Problems
                errors={report.data.errors.filter(isShown)}
                warnings={report.data.warnings.filter(isShown)}
                accounts={accounts}
              />
            )}
            {report.isError && (
              <Text size="sm" c="dimmed" role="status">
                The post could not be checked. {describeError(report.error)}
              </Text>
            )}
            <StoreActions
              state={state}
              body={body}
              accounts={accounts}
              post={post}
              isGone={isGone}
              refresh={refresh ?? (() => {})}
            />
          </Stack>
          <Stack gap="md" component="aside" aria-label="Previews" miw={0}>
            {chosen.map((account) => (
              <Preview
                key={account._id}
                draft={draft}
                account={account}
                rule={rules[account.platform]}
                report={report.data}
              />
            ))}
            {chosen.length === 0 && <Text c="dimmed">Choose an account to see the post there.</Text>}
          </Stack>
        </SimpleGrid>
      </ReportContext>
    </Page>
  )
}

interface TextsProps {
  draft: Draft
  setDraft: (change: (draft: Draft) => Draft) => void
  /** The accounts that are chosen. */
  accounts: Account[]
  rules: ThreadRules
}

/** The post, the further posts of its thread and the comment below, and what happens where these cannot be published. */
function Texts({ draft, setDraft, accounts, rules }: TextsProps) {
  const change = (part: Partial<Draft>) => setDraft((current) => ({ ...current, ...part }))
  const [text, media] = [useFieldError('content.text'), useFieldError('content.mediaItems')]
  const rulesOf = ({ platform }: Account) => rules[platform]
  return (
    <Stack gap="md">
      <MediaField
        media={draft.media}
        onChange={(of) => setDraft((current) => ({ ...current, media: of(current.media) }))}
        takesAllPastes
        error={media}
      >
        <Textarea
          aria-label="Text"
          placeholder="What do you want to say?"
          autosize
          minRows={5}
          maxRows={20}
          autoFocus
          value={draft.text}
          onChange={({ currentTarget }) => change({ text: currentTarget.value })}
          error={text}
        />
      </MediaField>
      <Thread
        segments={draft.segments}
        onChange={(of) => setDraft((current) => ({ ...current, segments: of(current.segments) }))}
        path="content.segments"
        accounts={accounts.filter(
          (account) =>
            contentFor(draft, account).segments === draft.segments && rulesOf(account)?.segments === 'replies',
        )}
      />
      <FirstComment
        comment={draft.firstComment}
        onChange={(firstComment) => change({ firstComment })}
        accounts={accounts.filter(
          (account) =>
            contentFor(draft, account).firstComment === draft.firstComment && rulesOf(account)?.firstComment !== 'none',
        )}
      />
      <Unsupported
        draft={draft}
        accounts={accounts}
        rules={rules}
        onChange={(onUnsupported) => change({ onUnsupported })}
      />
    </Stack>
  )
}

/** The accounts of a stored post that are no longer connected. */
function Lost({ post, accounts }: { post: Post; accounts: Account[] }) {
  const lost = listLost(post, accounts)
  if (lost.length === 0) return null
  const names = lost.map(({ platform, accountName }) =>
    [PLATFORMS[platform].name, accountName].filter(Boolean).join(' '),
  )
  return (
    <Alert color="yellow" mt="sm" title={`No longer connected: ${names.join(', ')}`}>
      If you save the post, it will not be published there. Connect the account first to keep it.
    </Alert>
  )
}
