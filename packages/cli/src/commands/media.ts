import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { limitOption, take, withoutUndefined } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'
import { formatTime } from '../times.ts'

type Media = components['schemas']['LibraryMedia']

interface ListOptions {
  kind?: 'image' | 'video'
  unused?: true
  limit: number
}

export const mediaCommands: CommandSpec[] = [
  {
    usage: 'list',
    isDefault: true,
    summary: 'List uploaded media, newest first',
    options: [
      new Option('--kind <kind>', 'only these').choices(['image', 'video']),
      new Option('--unused', 'only media that no post uses'),
      limitOption('media'),
    ],
    async run({ client, call, print, options: { kind, unused, limit } }: Run<ListOptions>) {
      const used = unused ? ('false' as const) : undefined
      print(await take(client.media.iterate(withoutUndefined({ kind, used }), call), limit), formatMedia)
    },
  },
  {
    usage: 'delete <media>',
    summary: 'Delete a file that no post needs any more',
    run: async ({ client, call, print }, mediaId) =>
      print(await client.media.delete(mediaId, call), () => formatFields({ media: mediaId, status: 'deleted' })),
  },
]

function formatMedia(media: Media[]): string {
  if (media.length === 0) return 'No media.'
  return formatTable(media, [
    { title: 'MEDIA', value: ({ id }) => id },
    { title: 'NAME', value: ({ originalFilename = '' }) => originalFilename },
    { title: 'BYTES', value: ({ sizeBytes }) => String(sizeBytes ?? '') },
    { title: 'UPLOADED', value: ({ createdAt }) => formatTime(createdAt) },
    { title: 'POSTS', value: ({ postCount }) => String(postCount) },
  ])
}
