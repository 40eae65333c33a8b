import { Type, type TSchema } from '@sinclair/typebox'
import { CARD_LENGTHS } from '../../../domain/posts/link.ts'
import { LINK_MODES } from '../../../domain/posts/post.ts'
import { LONGEST_LINK } from '../../../domain/shared/links.ts'
import { nullable, stringEnum } from '../../shared/schemas/common.ts'

/** A card with a misspelt field would show what its author did not want to show. */
const closed = { additionalProperties: false }

const webAddress = { minLength: 1, maxLength: LONGEST_LINK, examples: ['https://example.com/article'] }

/**
 * The choice of the link that becomes a card, in requests and responses.
 * @param image the schema of a media item
 */
export const linkSchema = <T extends TSchema>(image: T, title: string) =>
  Type.Union(
    [
      stringEnum(LINK_MODES, { title: 'LinkMode' }),
      Type.Object(
        {
          url: Type.String(webAddress),
          title: Type.Optional(Type.String({ minLength: 1, maxLength: CARD_LENGTHS.title })),
          description: Type.Optional(Type.String({ maxLength: CARD_LENGTHS.description })),
          image: Type.Optional(image),
        },
        { ...closed, title },
      ),
    ],
    {
      description:
        'The link that becomes a card: `auto`, the first one of the text (the default); `none`; or a link with texts and an uploaded image, which replace those of the page on Bluesky. Further posts of a thread and the first comment use their own first link, except with `none`.',
      examples: ['auto', { url: 'https://example.com/article', title: 'How we built it' }],
    },
  )

export const LinkPreviewQuery = Type.Object({
  url: Type.String({ ...webAddress, description: 'The address of a public page' }),
})

export const LinkPreview = Type.Object(
  {
    url: Type.String({ description: 'The address after redirects' }),
    title: Type.String(),
    description: nullable(Type.String()),
    imageUrl: nullable(Type.String({ description: 'The address of the preview image on its own server' })),
  },
  { title: 'LinkPreview' },
)
