import { Button, Select, Stack, Switch, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { PLATFORMS, type Account, type Platform } from '../../shared/platforms.tsx'
import { withVariant, type Draft, type DraftMedia, type Variant } from './draft.ts'
import { MediaField } from './media-field.tsx'

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
          variant={draft.variants[value] ?? {}}
          base={draft}
          onChange={(change) =>
            onChange((current) => withVariant(current, value, change(current.variants[value] ?? {})))
          }
          onRemove={() => {
            setAdded((all) => all.filter((one) => one !== value))
            onChange((current) => withVariant(current, value, { text: undefined, media: undefined }))
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
  variant: Variant
  base: Draft
  onChange: (change: (variant: Variant) => { [part in keyof Variant]: Variant[part] | undefined }) => void
  onRemove: () => void
}

function VariantFields({ label, variant, base, onChange, onRemove }: VariantFieldsProps) {
  return (
    <Stack gap="xs">
      <Textarea
        label={`Text for ${label}`}
        autosize
        minRows={2}
        placeholder="The same as above"
        value={variant.text ?? base.text}
        onChange={({ currentTarget: { value } }) => onChange(() => ({ text: value === base.text ? undefined : value }))}
      />
      <Switch
        label={`Other files for ${label}`}
        checked={variant.media !== undefined}
        onChange={({ currentTarget: { checked } }) => onChange(() => ({ media: checked ? base.media : undefined }))}
      />
      {variant.media !== undefined && (
        <MediaField
          media={variant.media}
          onChange={(change: (media: DraftMedia[]) => DraftMedia[]) =>
            onChange(({ media = [] }) => ({ media: change(media) }))
          }
        />
      )}
      <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove} style={{ alignSelf: 'flex-start' }}>
        Same as above
      </Button>
    </Stack>
  )
}
