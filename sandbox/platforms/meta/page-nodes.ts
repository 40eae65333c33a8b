import type { GraphNode } from '../shared/graph/graph.ts'
import type { Counting } from '../shared/graph/insights.ts'
import { graphTime } from '../shared/graph/lists.ts'
import type { CommentStore } from './comment-store.ts'
import type { MetaState, PagePost, Photo, Video } from './state.ts'

interface PageNodesDeps {
  state: MetaState
  comments: Pick<CommentStore, 'count'>
  counting: Counting
  base(): string
}

/** Converts a post for counting. */
export function countedPost({ message: text, createdAt, publishedAt, counted }: PagePost) {
  return { text, createdAt: publishedAt ?? createdAt, counted }
}

/** Builds the graph nodes of posts, photos and videos. */
export function createPageNodes({ state, comments, counting, base }: PageNodesDeps) {
  function postNode(post: PagePost): GraphNode {
    const counts = counting.now(countedPost(post))
    const summary = (name: string, more = 0) => ({ data: [], summary: { total_count: (counts[name] ?? 0) + more } })
    return {
      type: 'Post',
      byDefault: ['created_time', 'message', 'id'],
      fields: {
        id: post.id,
        message: post.message === '' ? undefined : post.message,
        created_time: graphTime(post.createdAt),
        updated_time: graphTime(post.changedAt ?? post.createdAt),
        permalink_url: addressOf(post),
        is_published: post.publishedAt !== null,
        from: { id: post.pageId, name: state.pages.get(post.pageId)!.name },
        attachments: () => attachmentsOf(post),
        reactions: summary('reactions'),
        comments: summary('comments', comments.count(post.videoId ?? post.id)),
        shares: counts['shares'] ? { count: counts['shares'] } : undefined,
      },
    }
  }

  function attachmentsOf({ photoIds, videoId, link }: PagePost) {
    const photo = (id: string) => ({ media_type: 'photo', target: { id, url: `${base()}/photo/${id}` } })
    if (videoId !== null) return { data: [{ media_type: 'video', target: { id: videoId } }] }
    if (photoIds.length === 1) return { data: [photo(photoIds[0]!)] }
    if (photoIds.length > 1) {
      return { data: [{ media_type: 'album', subattachments: { data: photoIds.map(photo) } }] }
    }
    return link === null ? undefined : { data: [{ media_type: 'link', target: { url: link }, url: link }] }
  }

  function addressOf({ id, pageId }: PagePost): string {
    return `${base()}/${pageId}/posts/${id.split('_')[1]}`
  }

  function videoNode(video: Video): GraphNode {
    const isOver = Date.now() >= video.readyAt
    const isDone = isOver && video.problem === null
    const isPublished = state.posts.get(`${video.pageId}_${video.id}`)?.publishedAt !== null
    const phase = (status: string) => ({ status })
    const failed = { status: 'error', errors: [{ code: 1_363_026, message: video.problem }] }
    const processing = isOver && !isDone ? failed : phase(isDone ? 'complete' : 'in_progress')
    return {
      type: 'Video',
      byDefault: ['updated_time', 'description', 'id'],
      fields: {
        id: video.id,
        description: video.description === '' ? undefined : video.description,
        created_time: graphTime(video.createdAt),
        updated_time: graphTime(video.createdAt),
        permalink_url: `/reel/${video.id}/`,
        post_id: `${video.pageId}_${video.id}`,
        published: isPublished,
        status: {
          video_status: isDone ? 'ready' : isOver ? 'error' : 'processing',
          uploading_phase: phase('complete'),
          processing_phase: processing,
          publishing_phase: phase(isDone && isPublished ? 'complete' : 'not_started'),
        },
      },
    }
  }

  function photoNode(photo: Photo): GraphNode {
    return {
      type: 'Photo',
      byDefault: ['created_time', 'id'],
      fields: {
        id: photo.id,
        created_time: graphTime(photo.createdAt),
        alt_text_custom: photo.altText,
        page_story_id: photo.postId ?? undefined,
      },
    }
  }

  return { postNode, videoNode, photoNode, addressOf }
}
