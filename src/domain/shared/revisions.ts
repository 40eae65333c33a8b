import { ServiceError } from './service-error.ts'

/** The error of an edit of a record that has changed since the editor read it. */
export function changedSinceRead(): ServiceError {
  const message = 'This has changed since you read it. Read it again, then repeat your change.'
  return new ServiceError('PRECONDITION_FAILED', message)
}

/**
 * @param expected the revisions that the editor has read; undefined when the edit applies to any
 * @throws ServiceError PRECONDITION_FAILED
 */
export function assertRevision(revision: number, expected: readonly number[] | undefined): void {
  if (expected && !expected.includes(revision)) throw changedSinceRead()
}
