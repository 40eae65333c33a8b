import { Button, Stack, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { MessageCirclePlus } from 'lucide-react'
import type { Account } from '../../shared/platforms.tsx'
import { PartCounts } from './counts.tsx'
import { useFieldError } from './report.ts'

interface FirstCommentProps {
  comment: string
  onChange: (comment: string) => void
  /** The accounts that publish this comment as one. */
  accounts: Account[]
}

/** The comment below the published post, behind a button until it is wanted. */
export function FirstComment({ comment, onChange, accounts }: FirstCommentProps) {
  const [isWanted, { open, close }] = useDisclosure()
  const error = useFieldError('content.firstComment')
  if (comment === '' && !isWanted) {
    return (
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<MessageCirclePlus size={15} aria-hidden />}
        onClick={open}
        style={{ alignSelf: 'flex-start' }}
      >
        Add a first comment
      </Button>
    )
  }
  return (
    <Stack gap={6}>
      <Textarea
        label="First comment"
        description="Published by you below the post, as soon as it is there."
        autosize
        minRows={2}
        maxRows={8}
        autoFocus={isWanted}
        value={comment}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        onBlur={() => comment === '' && close()}
        error={error}
      />
      <PartCounts accounts={accounts} index={-1} />
    </Stack>
  )
}
