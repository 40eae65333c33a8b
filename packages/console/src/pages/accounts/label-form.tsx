import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import type { Account } from '../../shared/platforms.tsx'

/** Opens the form for the user's own name of an account. */
export function askForLabel(account: Account): void {
  const modalId = modals.open({
    title: `A name for ${account.profile.handle}`,
    children: <LabelForm account={account} done={() => modals.close(modalId)} />,
  })
}

function LabelForm({ account: { _id, label }, done }: { account: Account; done: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ mode: 'uncontrolled', initialValues: { label: label ?? '' } })
  const renaming = useMutation({
    mutationFn: (values: typeof form.values) => client.accounts.update(_id, { label: values.label.trim() || null }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['accounts'] })
      done()
    },
  })
  return (
    <FieldForm sending={renaming} onSubmit={form.onSubmit((values) => renaming.mutate(values))} submit="Save">
      <TextInput
        label="Name"
        description="Only you see it. Empty shows the name on the platform."
        maxLength={100}
        data-autofocus
        key={form.key('label')}
        {...form.getInputProps('label')}
      />
    </FieldForm>
  )
}
