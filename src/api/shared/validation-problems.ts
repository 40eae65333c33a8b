import type { FastifySchemaValidationError } from 'fastify'
import { MAX_PATH_LENGTH, type Problem } from '../../domain/shared/service-error.ts'

type Issue = FastifySchemaValidationError & { propertyName?: string }

/** A small body can have thousands of problems. */
const MAX_PROBLEMS = 100

/** The part of a request that was validated. */
export type RequestPart = 'body' | 'headers' | 'params' | 'querystring'

interface ProblemOptions {
  part?: RequestPart | undefined
  /** Names the whole value in messages. */
  subject?: string
  /** The problems that are returned, the first ones. */
  max?: number
}

/** Converts validator issues to problems with messages for people. */
export function toProblems(
  issues: Issue[],
  { part = 'body', subject = 'The request body', max = MAX_PROBLEMS }: ProblemOptions = {},
): Problem[] {
  return takePrimaryIssues(issues, max).map((issue) => {
    const path = toPath(issue)
    const problem = describeIssue(issue, { path, part })
    return { path, code: toProblemCode(issue), message: `${path === '' ? subject : path} ${problem}` }
  })
}

function takePrimaryIssues(issues: Issue[], max: number): Issue[] {
  const taken: Issue[] = []
  const paths = issues.map(({ instancePath }) => instancePath).filter((path) => path !== '')
  const parents = new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/'))))
  for (const issue of issues) {
    if (taken.length === max) break
    // A value with issues of its parts has one of the forms of its union, and the others say nothing about it.
    const isOtherForm = ['type', 'enum'].includes(issue.keyword) && parents.has(issue.instancePath)
    if (!isOtherForm && isPrimaryIssue(issue)) taken.push(issue)
  }
  return taken
}

/**
 * Returns false for issues that repeat another one. Ajv reports a wrong property name twice, and a wrong nullable value once for
 * each form and once for their union.
 */
function isPrimaryIssue({ propertyName, keyword, params }: Issue): boolean {
  return propertyName === undefined && keyword !== 'anyOf' && params['type'] !== 'null'
}

/** Converts `/content/mediaItems/0` with a missing `mimeType` to the path `content.mediaItems.0.mimeType`. */
function toPath(issue: Issue): string {
  const steps = issue.instancePath.split('/').slice(1).map(unescapePointer)
  const field = issue.params['missingProperty'] ?? issue.params['propertyName']
  if (typeof field === 'string') steps.push(field)
  return steps.join('.').slice(0, MAX_PATH_LENGTH)
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function toProblemCode({ keyword }: Issue): string {
  switch (keyword) {
    case 'required':
      return 'REQUIRED'
    case 'type':
      return 'TYPE'
    case 'enum':
    case 'const':
      return 'NOT_ALLOWED'
    case 'propertyNames':
    case 'additionalProperties':
      return 'UNKNOWN_FIELD'
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return 'TOO_SHORT'
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return 'TOO_LONG'
    case 'uniqueItems':
      return 'DUPLICATE'
    default:
      return 'INVALID'
  }
}

const TYPES: Record<string, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

/** How JSON writes a value of each type. */
const JSON_FORMS: Record<string, string> = {
  string: 'Put it in quotes.',
  integer: 'Write it without quotes.',
  number: 'Write it without quotes.',
  boolean: 'Write it without quotes.',
  object: 'Put its fields in braces: {}.',
  array: 'Put its entries in brackets: [].',
}

const FORMATS: Record<string, string> = {
  email: 'must be an email address, such as ann@example.com.',
  'date-time': 'must be a date and time with an offset, such as 2026-05-01T09:30:00Z.',
}

/** Returns the problem and the remedy as text that follows the path of the value. */
function describeIssue({ keyword, params }: Issue, { path, part }: { path: string; part: RequestPart }): string {
  const limit = Number(params['limit'])
  switch (keyword) {
    case 'required':
      return part === 'querystring'
        ? `is missing. Add it to the address: ?${path}=…`
        : `is missing. Add it to the ${part === 'body' ? 'request body' : part}.`
    case 'type':
      return describeType(String(params['type']), part)
    case 'enum':
      return `is not allowed. Use ${(params['allowedValues'] as unknown[]).join(' or ')}.`
    case 'propertyNames':
    case 'additionalProperties':
      return 'is not a known field. Correct its name or remove it.'
    case 'minLength':
      return limit === 1
        ? 'is empty. Fill it in.'
        : `must have at least ${formatCount(limit, 'character')}. Make it longer.`
    case 'maxLength':
      return `must have at most ${formatCount(limit, 'character')}. Make it shorter.`
    case 'minItems':
    case 'minProperties':
      return `must have at least ${formatCount(limit, 'entry', 'entries')}. Add one.`
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${formatCount(limit, 'entry', 'entries')}. Remove some.`
    case 'uniqueItems':
      return 'has the same entry twice. Remove the duplicate.'
    case 'minimum':
      return `must be ${formatNumber(limit)} or more. Enter a larger number.`
    case 'maximum':
      return `must be ${formatNumber(limit)} or less. Enter a smaller number.`
    case 'format':
      return FORMATS[String(params['format'])] ?? 'is not in the expected format. Correct it.'
    case 'characters':
      return 'has characters that cannot be stored. Remove them.'
    case 'pattern':
      return 'is blank or has characters that are not allowed here. Correct it.'
    default:
      return 'is not valid. Correct it.'
  }
}

function describeType(type: string, part: RequestPart): string {
  const problem = `must be ${TYPES[type] ?? type}.`
  const form = part === 'body' ? JSON_FORMS[type] : undefined
  return form ? `${problem} ${form}` : problem
}

function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}
