import { describe, expect, it } from 'vitest'
import {
  assertApplicable,
  hasPublications,
  IMPORT_STATES,
  listCreatable,
  moveImport,
  NO_ROWS,
  toContentText,
  toExportedPost,
  toPlannedStatus,
  type ImportMove,
  type ImportState,
} from '../../../../src/domain/imports/imports.ts'
import { POST_STATUSES } from '../../../../src/domain/posts/post.ts'
import { buildPost } from '../../../support/posts.ts'

const problem = { path: 'a', code: 'B', message: 'C.' }
const conflict = { code: 'TOO_CLOSE' as const, message: 'C.', platform: 'bluesky' as const }

describe('the state of an import', () => {
  const NEXT: Record<ImportMove, Partial<Record<ImportState, ImportState>>> = {
    apply: { planned: 'applying', applying: 'applying', paused: 'paused', completed: 'completed' },
    pause: { applying: 'paused', paused: 'paused' },
    resume: { paused: 'applying', applying: 'applying' },
    cancel: { planned: 'cancelled', applying: 'cancelled', paused: 'cancelled', cancelled: 'cancelled' },
  }
  const cases = (Object.keys(NEXT) as ImportMove[]).flatMap((move) =>
    IMPORT_STATES.map((state) => [state, move, NEXT[move][state]] as const),
  )

  it.each(cases)('an import that is %s: %s leads to %s', (state, move, next) => {
    if (next) expect(moveImport(state, move)).toBe(next)
    else expect(() => moveImport(state, move)).toThrow(`This import is ${state}, so it cannot ${move}`)
  })

  it('a plan with errors is applied only without them', () => {
    const planned = { counts: { ...NO_ROWS, error: 2 } }
    expect(() => assertApplicable(planned, { skipErrors: false, skipConflicts: true })).toThrow('2 rows have errors')
    assertApplicable(planned, { skipErrors: true, skipConflicts: false })
    assertApplicable({ counts: NO_ROWS }, { skipErrors: false, skipConflicts: false })
  })

  it('rows with conflicts are created unless they are to be left out, and rows with errors never', () => {
    expect(listCreatable({ skipErrors: true, skipConflicts: false })).toEqual(['ready', 'warning', 'conflict'])
    expect(listCreatable({ skipErrors: true, skipConflicts: true })).toEqual(['ready', 'warning'])
  })

  it('a row has the status of its worst finding', () => {
    expect(toPlannedStatus({ errors: [], conflicts: [], warnings: [] })).toBe('ready')
    expect(toPlannedStatus({ errors: [], conflicts: [], warnings: [problem] })).toBe('warning')
    expect(toPlannedStatus({ errors: [], conflicts: [conflict], warnings: [problem] })).toBe('conflict')
    expect(toPlannedStatus({ errors: [problem], conflicts: [conflict], warnings: [problem] })).toBe('error')
  })

  it('scheduled and immediate posts are publications, and drafts are not', () => {
    expect(hasPublications({ posts: { drafts: 3, scheduled: 0, immediate: 0 } })).toBe(false)
    expect(hasPublications({ posts: { drafts: 0, scheduled: 1, immediate: 0 } })).toBe(true)
    expect(hasPublications({ posts: { drafts: 0, scheduled: 0, immediate: 1 } })).toBe(true)
  })
})

describe('an exported post', () => {
  it('a post for a group is exported with the accounts that it has', () => {
    const chosen = [{ platform: 'bluesky' as const, target: 'b2', accountId: 'b2' }]
    const groups = [{ id: 'g', name: 'North', accountIds: ['b2'] }]
    const exported = toExportedPost(buildPost({ selectedPlatforms: [], chosen, groups }, new Date()))
    expect(exported).toMatchObject({ selectedPlatforms: [], selectedAccounts: ['b2'] })
  })

  it.each(POST_STATUSES)('a post that is %s is exported as scheduled or as a draft', (status) => {
    const scheduledAt = new Date('2027-05-01T09:30:00Z')
    const exported = toExportedPost({ ...buildPost({ scheduledAt }, new Date()), status })
    expect(exported.status).toBe(status === 'SCHEDULED' ? 'SCHEDULED' : 'DRAFT')
    const keepsTime = status === 'SCHEDULED' || status === 'DRAFT'
    expect(exported.scheduledAt).toBe(keepsTime ? '2027-05-01T09:30:00.000Z' : null)
  })
})

it('posts with equal texts and different threads or comments are different contents', () => {
  const toText = (more: object) => {
    const content = { text: 'One', mediaItems: [], ...more }
    return toContentText({ content, platformSpecificContent: {} }, { platform: 'bluesky' })
  }
  const thread = { segments: [{ text: 'Two', mediaItems: [] }] }
  const texts = [{}, thread, { firstComment: 'Two' }, { ...thread, firstComment: 'Two' }].map(toText)
  expect(new Set(texts).size).toBe(4)
  expect(toText({ segments: [], firstComment: ' ' })).toBe(toText({}))
})
