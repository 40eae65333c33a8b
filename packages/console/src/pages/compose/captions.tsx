import { Alert, Button, Modal, Paper, Select, Stack, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Sparkles } from 'lucide-react'
import { client } from '../../session/session.ts'
import { FieldForm } from '../../shared/field-form.tsx'

const TONES = ['professional', 'casual', 'friendly', 'funny', 'excited']

/** Proposes texts for a topic. */
export function Captions({ text, onChoose }: { text: string; onChoose: (text: string) => void }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button size="compact-sm" variant="subtle" leftSection={<Sparkles size={14} aria-hidden />} onClick={open}>
        Suggest texts
      </Button>
      <Modal opened={isOpen} onClose={close} title="Suggest texts" closeButtonProps={{ 'aria-label': 'Close' }}>
        <CaptionForm
          text={text}
          onChoose={(caption) => {
            onChoose(caption)
            close()
          }}
        />
      </Modal>
    </>
  )
}

function CaptionForm({ text, onChoose }: { text: string; onChoose: (text: string) => void }) {
  const queries = useQueryClient()
  const form = useForm<{ prompt: string; tone: string | null }>({
    mode: 'uncontrolled',
    initialValues: { prompt: '', tone: null },
  })
  const generating = useMutation({
    mutationFn: ({ prompt, tone }: typeof form.values) =>
      client.request('POST', '/api/generate/captions', { body: { prompt, text, ...(tone && { tone }) } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscription'] }),
  })
  return (
    <Stack>
      <FieldForm sending={generating} onSubmit={form.onSubmit((values) => generating.mutate(values))} submit="Suggest">
        <Textarea
          label="What is it about?"
          required
          autosize
          minRows={2}
          data-autofocus
          key={form.key('prompt')}
          {...form.getInputProps('prompt')}
        />
        <Select
          label="Tone"
          placeholder="Any"
          data={TONES}
          clearable
          key={form.key('tone')}
          {...form.getInputProps('tone')}
        />
      </FieldForm>
      {generating.data && (
        <Stack gap="xs" role="status">
          {generating.data.provider === 'template' && (
            <Alert variant="light">No language model is set up here: these are phrases around your words.</Alert>
          )}
          {generating.data.captions.map((caption) => (
            <Paper key={caption} withBorder p="sm">
              <Text size="sm" className="user-text">
                {caption}
              </Text>
              <Button size="compact-xs" variant="light" mt="xs" onClick={() => onChoose(caption)}>
                Use this
              </Button>
            </Paper>
          ))}
          <Text size="xs" c="dimmed">
            {generating.data.usage.used} of {generating.data.usage.limit} requests used.
          </Text>
        </Stack>
      )}
    </Stack>
  )
}
