import { Button, ColorInput, ColorSwatch, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import type { Brand } from '../../session/brand.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { countOf } from '../../shared/counts.ts'
import { problemsByField, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { PLATFORMS, type Account } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'

/** Apart from each other, also for people who see fewer colours. */
const COLORS = ['#228be6', '#e8590c', '#2f9e44', '#ae3ec9', '#f08c00', '#0c8599', '#e03131', '#495057']

/** Named groups of accounts. The switch at the top of every page lists them. */
export function Brands({ accounts }: { accounts: Account[] }) {
  const brands = useQuery({ queryKey: ['groups'], queryFn: () => client.groups.list() })
  const queries = useQueryClient()
  const deleting = useMutation({
    mutationFn: (id: string) => client.groups.delete(id),
    onError: showError,
    onSettled: () => Promise.all(['groups', 'slots'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  })
  const askToDelete = ({ id, name }: Brand) =>
    askToConfirm({
      title: `Delete the brand ${name}?`,
      children: <Text size="sm">Its accounts stay connected, and its posts stay as they are.</Text>,
      labels: { confirm: 'Delete', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => deleting.mutate(id),
    })
  return (
    <Section
      title="Brands"
      lead="Groups of accounts, to see and publish for one at a time."
      actions={
        <Button size="xs" variant="default" onClick={() => askForBrand(accounts)}>
          New brand
        </Button>
      }
    >
      <QueryView query={brands}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm" c="dimmed">
              No brands yet.
            </Text>
          ) : (
            <Stack component="ul" gap="sm" m={0} p={0}>
              {list.map((brand) => (
                <Group key={brand.id} component="li" justify="space-between" wrap="nowrap">
                  <Group gap="sm" wrap="nowrap" miw={0}>
                    <ColorSwatch
                      color={brand.color}
                      size={16}
                      withShadow={false}
                      aria-hidden
                      style={{ flex: 'none' }}
                    />
                    <div>
                      <Text fw={500}>{brand.name}</Text>
                      <Text size="sm" c="dimmed">
                        {countOf(brand.accountIds.length, 'account')}
                      </Text>
                    </div>
                  </Group>
                  <Group gap="xs" wrap="nowrap">
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Edit ${brand.name}`}
                      onClick={() => askForBrand(accounts, brand)}
                    >
                      Edit
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      color="red"
                      aria-label={`Delete ${brand.name}`}
                      onClick={() => askToDelete(brand)}
                    >
                      Delete
                    </Button>
                  </Group>
                </Group>
              ))}
            </Stack>
          )
        }
      </QueryView>
    </Section>
  )
}

/** Opens the form of a new brand, or of one to change. */
function askForBrand(accounts: Account[], brand?: Brand): void {
  const modalId = modals.open({
    title: brand ? `Edit ${brand.name}` : 'A new brand',
    children: <BrandForm accounts={accounts} brand={brand} done={() => modals.close(modalId)} />,
  })
}

interface BrandFormProps {
  accounts: Account[]
  brand: Brand | undefined
  done: () => void
}

function BrandForm({ accounts, brand, done }: BrandFormProps) {
  const queries = useQueryClient()
  const { name = '', color = COLORS[0]!, accountIds = [] } = brand ?? {}
  const form = useForm({ mode: 'uncontrolled', initialValues: { name, color, accountIds } })
  const saving = useMutation({
    mutationFn: (body: typeof form.values) =>
      brand
        ? client.request('PATCH', '/api/groups/{id}', { path: { id: brand.id }, body, ifMatch: brand.etag })
        : client.groups.create(body),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: async () => {
      await Promise.all(['groups', 'posts', 'analytics'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
      done()
    },
  })
  return (
    <FieldForm sending={saving} onSubmit={form.onSubmit((values) => saving.mutate(values))} submit="Save">
      <TextInput
        label="Name"
        required
        maxLength={60}
        data-autofocus
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <ColorInput
        label="Colour"
        swatches={COLORS}
        format="hex"
        withEyeDropper={false}
        key={form.key('color')}
        {...form.getInputProps('color')}
      />
      <MultiSelect
        label="Accounts"
        data={accounts.map(({ _id, platform, profile, label }) => ({
          value: _id,
          label: `${PLATFORMS[platform].name} ${label ?? profile.handle}`,
        }))}
        searchable
        key={form.key('accountIds')}
        {...form.getInputProps('accountIds')}
      />
    </FieldForm>
  )
}
