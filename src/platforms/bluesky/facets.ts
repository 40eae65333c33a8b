import { AppBskyRichtextFacet, RichText, type Facet } from '@atproto/api'
import { countText, POSTING_RULES } from '../../domain/posts/posting-rules.ts'

/**
 * Finds links, mentions and hashtags as Bluesky's own apps do. Without facets they would be plain text.
 * A text beyond Bluesky's limits gets none: the server refuses it anyway, and the library takes quadratic time on long
 * texts.
 * @param resolve returns the DID of a handle, or `null` when there is no such account; then it is no mention
 */
export async function findFacets(text: string, resolve: (handle: string) => Promise<string | null>): Promise<Facet[]> {
  if (isTooLong(text)) return []
  const richText = new RichText({ text })
  richText.detectFacetsWithoutResolution()
  const found = richText.facets ?? []
  const handles = new Set(found.flatMap((facet) => getMentionedHandle(facet) ?? []))
  const dids = new Map(await Promise.all([...handles].map(async (handle) => [handle, await resolve(handle)] as const)))
  return found.flatMap((facet) => resolveMention(facet, dids)).filter(isAcceptable)
}

function isTooLong(text: string): boolean {
  return POSTING_RULES.bluesky.text.some(({ unit, max }) => countText(text, unit, max + 1) > max)
}

function resolveMention(facet: Facet, dids: Map<string, string | null>): Facet[] {
  const handle = getMentionedHandle(facet)
  if (handle === undefined) return [facet]
  const did = dids.get(handle)
  return did ? [{ ...facet, features: [{ $type: 'app.bsky.richtext.facet#mention', did }] }] : []
}

/** Unresolved mentions hold the handle in place of the DID. */
function getMentionedHandle(facet: Facet): string | undefined {
  return facet.features.find((feature) => AppBskyRichtextFacet.isMention(feature))?.did
}

/** The server refuses the whole post for one invalid facet, such as a tag of 64 emoji with more than 640 bytes. */
function isAcceptable(facet: Facet): boolean {
  return AppBskyRichtextFacet.validateMain(facet).success
}
