import { Button, Select, Stack, Switch, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { PLATFORMS, type Account, type Platform } from '../../shared/platforms.tsx'
import { withVariant, type Draft, type Variant, type VariantChange } from './draft.ts'
import { MediaField } from './media-field.tsx'
import { useFieldError } from './report.ts'
import { Thread } from './thread.tsx'

interface VariantsProps {
  draft: Draft
  /** The accounts that are chosen. */
  accounts: Account[]
  onChange: (change: (draft: Draft) => Draft) => void
}

/** Texts and files that differ for a platform or an account. What is not changed here is the same for all. */
export function Variants({ draft, accounts, onChange }: VariantsProps) {
  const [added, setAdded] = useState<string[]>([])
  const options = listOptions(accounts)
  const shown = options.filter(({ value }) => draft.variants[value] !== undefined || added.includes(value))
  const free = options.filter((option) => !shown.includes(option))
  if (accounts.length < 2 && shown.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Choose several accounts to give one of them another text or other files.
      </Text>
    )
  }
  return (
    <Stack>
      {shown.map(({ value, label }) => (
        <VariantFields
          key={value}
          label={label}
          path={`${value in PLATFORMS ? 'platform' : 'account'}SpecificContent.${value}`}
          variant={draft.variants[value] ?? {}}
          base={draft}
          onChange={(change) =>
            onChange((current) => withVariant(current, value, change(current.variants[value] ?? {})))
          }
          onRemove={() => {
            setAdded((all) => all.filter((one) => one !== value))
            onChange(({ variants: { [value]: _, ...variants }, ...current }) => ({ ...current, variants }))
          }}
        />
      ))}
      {free.length > 0 && (
        <Select
          label="Another text or other files for"
          placeholder="Choose a platform or an account"
          data={free}
          value={null}
          onChange={(value) => value && setAdded((all) => [...all, value])}
          searchable
        />
      )}
    </Stack>
  )
}

/** Every platform that is chosen, and its accounts where there are several. */
function listOptions(accounts: Account[]): { value: string; label: string }[] {
  const platforms = [...new Set(accounts.map(({ platform }) => platform))]
  return platforms.flatMap((platform: Platform) => {
    const own = accounts.filter((account) => account.platform === platform)
    const name = PLATFORMS[platform].name
    return [
      { value: platform, label: own.length > 1 ? `${name}, all ${own.length} accounts` : name },
      ...(own.length > 1 ? own : []).map(({ _id, profile }) => ({ value: _id, label: `${name} ${profile.handle}` })),
    ]
  })
}

interface VariantFieldsProps {
  label: string
  /** The path of the variant in the request. */
  path: string
  variant: Variant
  base: Draft
  onChange: (change: (variant: Variant) => VariantChange) => void
  onRemove: () => void
}

function VariantFields({ label, path, variant, base, onChange, onRemove }: VariantFieldsProps) {
  const { media, segments, firstComment } = variant
  const [textError, mediaError] = [useFieldError(`${path}.text`), useFieldError(`${path}.mediaItems`)]
  const commentError = useFieldError(`${path}.firstComment`)
  return (
    <Stack gap="xs">
      <Textarea
        label={`Text for ${label}`}
        autosize
        minRows={2}
        placeholder="The same as above"
        value={variant.text ?? base.text}
        onChange={({ currentTarget: { value } }) => onChange(() => ({ text: value === base.text ? undefined : value }))}
        error={textError}
      />
      <Switch
        label={`Other files for ${label}`}
        checked={media !== undefined}
        onChange={({ currentTarget: { checked } }) => onChange(() => ({ media: checked ? base.media : undefined }))}
      />
      {media !== undefined && (
        <MediaField
          media={media}
          error={mediaError}
          onChange={(of) => onChange((current) => ({ media: of(current.media ?? []) }))}
        />
      )}
      {(base.segments.length > 0 || segments !== undefined) && (
        <Switch
          label={`Another thread for ${label}`}
          checked={segments !== undefined}
          onChange={({ currentTarget: { checked } }) =>
            onChange(() => ({ segments: checked ? base.segments : undefined }))
          }
        />
      )}
      {segments !== undefined && (
        <Thread
          segments={segments}
          path={`${path}.segments`}
          accounts={[]}
          onChange={(of) => onChange((current) => ({ segments: of(current.segments ?? []) }))}
        />
      )}
      {(base.firstComment !== '' || firstComment !== undefined) && (
        <Textarea
          label={`First comment for ${label}`}
          description="Leave it empty to publish no comment there."
          autosize
          minRows={1}
          value={firstComment ?? base.firstComment}
          onChange={({ currentTarget: { value } }) =>
            onChange(() => ({ firstComment: value === base.firstComment ? undefined : value }))
          }
          error={commentError}
        />
      )}
      {(variant.options ?? variant.onUnsupported) !== undefined && (
        <Text size="xs" c="dimmed">
          This variant has options of its own, which were set by another program. They stay as they are.
        </Text>
      )}
      <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove} style={{ alignSelf: 'flex-start' }}>
        Same as above
      </Button>
    </Stack>
  )
}
