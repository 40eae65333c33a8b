import { ActionIcon, Button, Group, Image, Input, Paper, Progress, Stack, Text, Textarea } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import '@mantine/dropzone/styles.layer.css'
import { randomId } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { ArrowLeft, ArrowRight, ImagePlus, X } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { describeError } from '../../shared/errors.ts'
import type { DraftMedia } from './draft.ts'
import { uploadFile, UPLOADS } from './upload.ts'

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'video/mp4', 'video/quicktime']

interface Upload {
  id: string
  name: string
  percent: number
  error: unknown
  stop: () => void
}

interface UploadRequest {
  id: string
  file: File
  signal: AbortSignal
}

interface MediaFieldProps {
  media: DraftMedia[]
  onChange: (change: (media: DraftMedia[]) => DraftMedia[]) => void
  /** Takes files that are pasted anywhere on the page, not only into this field. */
  takesAllPastes?: boolean
  /** The problems of the files. */
  error?: string | null
  /** Above the files, and part of the field when files are pasted. */
  children?: ReactNode
}

/** The files of a post: dropped, chosen or pasted, in their order, each with a description for people who cannot see it. */
export function MediaField({ media, onChange, takesAllPastes = false, error = null, children }: MediaFieldProps) {
  const [uploads, setUploads] = useState<Upload[]>([])
  const [refused, setRefused] = useState<string[]>([])
  const change = (id: string, part: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)))

  const uploading = useMutation({
    mutationKey: UPLOADS,
    mutationFn: ({ id, file, signal }: UploadRequest) =>
      uploadFile(file, { signal, onProgress: (percent) => change(id, { percent }) }),
  })
  const running = useRef(new Set<AbortController>())
  useEffect(() => {
    const { current } = running
    return () => current.forEach((stopping) => stopping.abort())
  }, [])

  function add(files: File[]): void {
    setRefused([])
    let earlier = Promise.resolve()
    for (const file of files) {
      const id = randomId()
      const stopping = new AbortController()
      const upload = { id, name: file.name, percent: 0, error: null, stop: () => stopping.abort() }
      setUploads((all) => [...all, upload])
      running.current.add(stopping)
      const before = earlier
      earlier = uploading.mutateAsync({ id, file, signal: stopping.signal }).then(
        async (item) => {
          running.current.delete(stopping)
          // The files keep the order in which they were chosen.
          await before
          setUploads((all) => all.filter((one) => one.id !== id))
          onChange((items) => [...items, item])
        },
        (error: unknown) => {
          running.current.delete(stopping)
          if (stopping.signal.aborted) setUploads((all) => all.filter((one) => one.id !== id))
          else change(id, { error })
        },
      )
    }
  }

  usePastesOfPage(takesAllPastes ? add : null)
  const move = (from: number, to: number) =>
    onChange((items) => {
      const moved = items.toSpliced(from, 1)
      return moved.toSpliced(to, 0, items[from]!)
    })
  return (
    <Stack
      gap="sm"
      onPaste={(event) => {
        const files = readPastedFiles(event.clipboardData)
        if (takesAllPastes || files.length === 0) return
        event.stopPropagation()
        add(files)
      }}
    >
      {children}
      {media.map((item, index) => (
        <MediaRow
          key={item.storageKey}
          item={item}
          onDescribe={(altText) => onChange((items) => items.with(index, { ...item, altText }))}
          onRemove={() => onChange((items) => items.toSpliced(index, 1))}
          onEarlier={index > 0 ? () => move(index, index - 1) : null}
          onLater={index < media.length - 1 ? () => move(index, index + 1) : null}
        />
      ))}
      {uploads.map(({ id, name, percent, error: failure, stop }) => (
        <Paper key={id} withBorder p="sm">
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm" truncate>
              {name}
            </Text>
            <Button
              size="compact-xs"
              variant="subtle"
              onClick={failure === null ? stop : () => setUploads((all) => all.filter((one) => one.id !== id))}
            >
              {failure === null ? 'Cancel' : 'Remove'}
            </Button>
          </Group>
          {failure === null ? (
            <Progress value={percent} mt={6} aria-label={`Upload of ${name}`} />
          ) : (
            <Text size="sm" c="red" role="alert">
              {describeError(failure)}
            </Text>
          )}
        </Paper>
      ))}
      {error !== null && <Input.Error>{error}</Input.Error>}
      {refused.length > 0 && (
        <Text size="sm" c="red" role="alert">
          {refused.join(', ')} cannot be used. Choose PNG, JPEG or WebP pictures, or MP4 or QuickTime videos.
        </Text>
      )}
      <Dropzone
        onDrop={add}
        accept={TYPES}
        onReject={(files) => setRefused(files.map(({ file }) => file.name))}
        p="sm"
        inputProps={{ 'aria-label': 'Add pictures or a video' }}
      >
        <Group justify="center" gap="sm" style={{ pointerEvents: 'none' }}>
          <ImagePlus size={20} aria-hidden />
          <Text size="sm" c="dimmed">
            Drop, paste or choose pictures and videos
          </Text>
        </Group>
      </Dropzone>
    </Stack>
  )
}

function readPastedFiles(clipboard: DataTransfer | null): File[] {
  return [...(clipboard?.files ?? [])].filter(({ type }) => TYPES.includes(type))
}

/** Takes files from the clipboard, wherever on the page they are pasted. */
function usePastesOfPage(add: ((files: File[]) => void) | null): void {
  const latest = useRef(add)
  useEffect(() => {
    latest.current = add
  })
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const files = readPastedFiles(clipboardData)
      if (files.length > 0) latest.current?.(files)
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [])
}

interface MediaRowProps {
  item: DraftMedia
  onDescribe: (altText: string) => void
  onRemove: () => void
  onEarlier: (() => void) | null
  onLater: (() => void) | null
}

function MediaRow({ item, onDescribe, onRemove, onEarlier, onLater }: MediaRowProps) {
  const { mimeType, storageUrl, originalFilename = 'file', altText = '' } = item
  return (
    <Paper withBorder p="sm">
      <Group align="flex-start" wrap="nowrap">
        {mimeType.startsWith('video/') ? (
          <video src={storageUrl} width={88} height={88} preload="metadata" aria-label={originalFilename} />
        ) : (
          <Image src={storageUrl} alt="" w={88} h={88} radius="sm" fit="cover" />
        )}
        <Stack gap={4} flex={1} miw={0}>
          <Textarea
            label={`Description of ${originalFilename}`}
            description="For people who cannot see it."
            autosize
            minRows={1}
            maxRows={4}
            value={altText}
            onChange={({ currentTarget }) => onDescribe(currentTarget.value)}
          />
          {altText.trim() === '' && (
            <Text size="xs" c="dimmed">
              Without a description, some people will not know what it shows.
            </Text>
          )}
        </Stack>
        <Stack gap={4}>
          <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${originalFilename}`} onClick={onRemove}>
            <X size={16} aria-hidden />
          </ActionIcon>
          {onEarlier && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Move ${originalFilename} forward`}
              onClick={onEarlier}
            >
              <ArrowLeft size={16} aria-hidden />
            </ActionIcon>
          )}
          {onLater && (
            <ActionIcon variant="subtle" color="gray" aria-label={`Move ${originalFilename} back`} onClick={onLater}>
              <ArrowRight size={16} aria-hidden />
            </ActionIcon>
          )}
        </Stack>
      </Group>
    </Paper>
  )
}
