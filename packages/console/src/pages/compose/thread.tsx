import { ActionIcon, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { randomId } from '@mantine/hooks'
import { ArrowDown, ArrowUp, ListPlus, X } from 'lucide-react'
import type { Account } from '../../shared/platforms.tsx'
import { PartCounts } from './counts.tsx'
import type { Segment } from './draft.ts'
import { MediaField } from './media-field.tsx'
import { useFieldError } from './report.ts'

const MAX_SEGMENTS = 25

interface ThreadProps {
  segments: Segment[]
  onChange: (change: (segments: Segment[]) => Segment[]) => void
  /** The path of the segments in the request. */
  path: string
  /** The accounts that publish these segments as posts of their own. */
  accounts: Account[]
}

/** The further posts of a thread, in their order. */
export function Thread({ segments, onChange, path, accounts }: ThreadProps) {
  const move = (from: number, to: number) =>
    onChange((all) => {
      const moved = all.toSpliced(from, 1)
      return moved.toSpliced(to, 0, all[from]!)
    })
  const change = (id: string, part: (segment: Segment) => Partial<Segment>) =>
    onChange((all) => all.map((one) => (one.id === id ? { ...one, ...part(one) } : one)))
  return (
    <Stack gap="sm">
      {segments.map((segment, index) => (
        <SegmentFields
          key={segment.id}
          segment={segment}
          index={index}
          path={`${path}.${index}`}
          accounts={accounts}
          onChange={(part) => change(segment.id, part)}
          onRemove={() => onChange((all) => all.filter(({ id }) => id !== segment.id))}
          onUp={index > 0 ? () => move(index, index - 1) : null}
          onDown={index < segments.length - 1 ? () => move(index, index + 1) : null}
        />
      ))}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<ListPlus size={15} aria-hidden />}
        disabled={segments.length >= MAX_SEGMENTS}
        onClick={() => onChange((all) => [...all, { id: randomId(), text: '', media: [] }])}
        style={{ alignSelf: 'flex-start' }}
      >
        Add a post to the thread
      </Button>
    </Stack>
  )
}

interface SegmentFieldsProps {
  segment: Segment
  index: number
  path: string
  accounts: Account[]
  onChange: (part: (segment: Segment) => Partial<Segment>) => void
  onRemove: () => void
  onUp: (() => void) | null
  onDown: (() => void) | null
}

function SegmentFields({ segment, index, path, accounts, onChange, onRemove, onUp, onDown }: SegmentFieldsProps) {
  const name = `post ${index + 2}`
  const [text, media] = [useFieldError(`${path}.text`), useFieldError(`${path}.mediaItems`)]
  return (
    <Paper withBorder p="sm" component="section" aria-label={`Post ${index + 2} of the thread`}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Text size="sm" fw={600}>
          Post {index + 2}
        </Text>
        <Group gap={4} wrap="nowrap">
          {onUp && (
            <ActionIcon variant="subtle" color="gray" aria-label={`Move ${name} up`} onClick={onUp}>
              <ArrowUp size={16} aria-hidden />
            </ActionIcon>
          )}
          {onDown && (
            <ActionIcon variant="subtle" color="gray" aria-label={`Move ${name} down`} onClick={onDown}>
              <ArrowDown size={16} aria-hidden />
            </ActionIcon>
          )}
          <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${name}`} onClick={onRemove}>
            <X size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <MediaField
        media={segment.media}
        onChange={(of) => onChange((current) => ({ media: of(current.media) }))}
        error={media}
      >
        <Stack gap={6}>
          <Textarea
            aria-label={`Text of ${name}`}
            placeholder="How does it go on?"
            autosize
            minRows={2}
            maxRows={12}
            value={segment.text}
            onChange={({ currentTarget: { value } }) => onChange(() => ({ text: value }))}
            error={text}
          />
          <PartCounts accounts={accounts} index={index} />
        </Stack>
      </MediaField>
    </Paper>
  )
}
