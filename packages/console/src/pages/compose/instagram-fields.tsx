import {
  ActionIcon,
  Button,
  Group,
  Input,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { KINDS, toChoices, type Change, type InstagramOptions, type UserTag } from './options.ts'
import { useFieldError } from './report.ts'

const PATH = 'content.options.instagram'
const MAX_COLLABORATORS = 3
const MAX_USER_TAGS = 20

interface InstagramFieldsProps {
  options: InstagramOptions
  onChange: Change<InstagramOptions>
}

export function InstagramFields({ options, onChange }: InstagramFieldsProps) {
  const { kind = null, coverAt, collaborators = [], userTags = [], shareToFeed = true } = options
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Kind"
          placeholder="A single video is a reel"
          data={toChoices(KINDS)}
          clearable
          value={kind}
          onChange={(value) => onChange({ kind: value ?? undefined })}
          error={useFieldError(`${PATH}.kind`)}
        />
        <NumberInput
          label="Cover of a reel"
          placeholder="First frame"
          suffix=" s"
          min={0}
          value={coverAt ?? ''}
          onChange={(value) => onChange({ coverAt: typeof value === 'number' ? value : undefined })}
          error={useFieldError(`${PATH}.coverAt`)}
        />
      </SimpleGrid>
      <TagsInput
        label="Collaborators"
        description="User names of up to three accounts that are invited."
        maxTags={MAX_COLLABORATORS}
        value={collaborators}
        onChange={(value) => onChange({ collaborators: value })}
        error={useFieldError(`${PATH}.collaborators`)}
      />
      <UserTagFields tags={userTags} onChange={(value) => onChange({ userTags: value })} />
      <Switch
        label="Show a reel in the feed as well"
        checked={shareToFeed}
        onChange={({ currentTarget }) => onChange({ shareToFeed: currentTarget.checked ? undefined : false })}
        error={useFieldError(`${PATH}.shareToFeed`)}
      />
    </>
  )
}

/** People in the pictures. The API counts files from 0, and places by parts of width and height. */
function UserTagFields({ tags, onChange }: { tags: UserTag[]; onChange: (tags: UserTag[]) => void }) {
  const error = useFieldError(`${PATH}.userTags`)
  const change = (index: number, part: { [field in keyof UserTag]?: UserTag[field] | undefined }) => {
    const { username, ...others } = { ...tags[index]!, ...part }
    const stated = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
    onChange(tags.with(index, { username: username ?? '', ...stated }))
  }
  const toNumber = (value: number | string, convert: (stated: number) => number) =>
    typeof value === 'number' ? convert(value) : undefined
  const percent = (value: number | undefined) => (value === undefined ? '' : Math.round(value * 100))
  return (
    <Stack gap="xs" role="group" aria-label="Tagged people">
      {tags.map(({ username, mediaItem = 0, x, y }, index) => (
        <Group key={index} gap="xs" align="flex-end">
          <TextInput
            label="Tagged user"
            flex={1}
            miw={120}
            value={username}
            onChange={({ currentTarget }) => change(index, { username: currentTarget.value })}
          />
          <NumberInput
            label="File"
            w={70}
            min={1}
            value={mediaItem + 1}
            onChange={(value) => change(index, { mediaItem: toNumber(value, (stated) => stated - 1) })}
          />
          <NumberInput
            label="From left"
            w={90}
            {...{ min: 0, max: 100, suffix: ' %' }}
            value={percent(x)}
            onChange={(value) => change(index, { x: toNumber(value, (stated) => stated / 100) })}
          />
          <NumberInput
            label="From top"
            w={90}
            {...{ min: 0, max: 100, suffix: ' %' }}
            value={percent(y)}
            onChange={(value) => change(index, { y: toNumber(value, (stated) => stated / 100) })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove tagged user ${index + 1}`}
            onClick={() => onChange(tags.toSpliced(index, 1))}
          >
            <X size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {error !== null && <Input.Error role="alert">{error}</Input.Error>}
      {tags.length < MAX_USER_TAGS && (
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<Plus size={15} aria-hidden />}
          onClick={() => onChange([...tags, { username: '' }])}
          style={{ alignSelf: 'flex-start' }}
        >
          Tag a person
        </Button>
      )}
    </Stack>
  )
}
