import {
  Avatar,
  Button,
  FileButton,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { client, refreshUser, useUser } from '../../session/session.ts'
import { problemsByField, showDone, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { Section } from '../../shared/section.tsx'
import { listTimezones } from '../../shared/timezones.ts'

const MAX_HOLD_SECONDS = 120
const PICTURES = 'image/png,image/jpeg,image/webp'

export function ProfileSettings() {
  const { name, email, timezone, holdSeconds } = useUser()
  const form = useForm({ mode: 'uncontrolled', initialValues: { name, timezone, holdSeconds } })
  const saving = useMutation({
    mutationFn: async (values: typeof form.values) => {
      if (values.name !== name)
        await client.request('PATCH', '/api/profile/change-name', { body: { name: values.name } })
      if (values.timezone !== timezone)
        await client.request('PUT', '/api/profile/change-timezone', { body: { timezone: values.timezone } })
      // An empty field is none.
      const seconds = Number(values.holdSeconds)
      if (seconds !== holdSeconds)
        await client.request('PUT', '/api/profile/change-hold', { body: { holdSeconds: seconds } })
      await refreshUser()
    },
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: () => showDone('Saved.'),
  })
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Section title="Profile">
        <FieldForm sending={saving} onSubmit={form.onSubmit((values) => saving.mutate(values))} submit="Save">
          <TextInput label="Name" autoComplete="name" required key={form.key('name')} {...form.getInputProps('name')} />
          <TextInput label="Email address" value={email} readOnly variant="filled" />
          <Select
            label="Timezone"
            description="Times are shown and entered in it. Planned posts keep their instants."
            data={listTimezones(timezone)}
            searchable
            allowDeselect={false}
            limit={100}
            key={form.key('timezone')}
            {...form.getInputProps('timezone')}
          />
          <NumberInput
            label="Seconds to undo"
            description="How long a post waits after you publish it now, up to two minutes. Until then you can undo it."
            min={0}
            max={MAX_HOLD_SECONDS}
            clampBehavior="strict"
            allowDecimal={false}
            key={form.key('holdSeconds')}
            {...form.getInputProps('holdSeconds')}
          />
        </FieldForm>
      </Section>
      <Picture />
    </SimpleGrid>
  )
}

function Picture() {
  const { avatar, name } = useUser()
  const uploading = useMutation({
    mutationFn: async (file: File) => {
      const place = await client.request('POST', '/api/profile/upload-url', {
        body: { contentType: file.type, sizeBytes: file.size },
      })
      const stored = await fetch(place.uploadUrl, {
        method: 'PUT',
        headers: { 'content-type': place.contentType },
        body: file,
      })
      if (!stored.ok) throw new Error(`The storage refused the picture with status ${stored.status}. Try another one.`)
      await client.request('PUT', '/api/profile/update-avatar', { body: { imageUrl: place.storageUrl } })
      await refreshUser()
    },
    onError: showError,
  })
  const removing = useMutation({
    mutationFn: async () => {
      await client.request('DELETE', '/api/profile/delete-avatar')
      await refreshUser()
    },
    onError: showError,
  })
  return (
    <Section title="Picture">
      <Group>
        <Avatar src={avatar} name={name} color="ink" size={84} alt="" />
        <Stack gap="xs">
          <Group gap="xs">
            <FileButton accept={PICTURES} onChange={(file) => file && uploading.mutate(file)}>
              {(props) => (
                <Button {...props} variant="default" size="xs" loading={uploading.isPending}>
                  Upload a picture
                </Button>
              )}
            </FileButton>
            {avatar && (
              <Button
                variant="subtle"
                color="red"
                size="xs"
                loading={removing.isPending}
                onClick={() => removing.mutate()}
              >
                Remove
              </Button>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            PNG, JPEG or WebP. It is not shown on any platform.
          </Text>
        </Stack>
      </Group>
    </Section>
  )
}
