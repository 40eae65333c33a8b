import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError, type components } from '@postonce/sdk'
import { createContext, use } from 'react'
import { client } from '../../session/session.ts'

type Schemas = components['schemas']
export type Problem = Schemas['Problem']
export type Report = Schemas['ValidationReport']
export type Count = Pick<Schemas['PlatformReport'], 'length' | 'limit'>

/** How long nothing was typed before the service is asked about the post. */
const TYPING_MS = 500

/** Has the service check the post while it is written. Only the newest answer is shown; until it arrives, the one before. */
export function useReport(body: Schemas['CreatePost'], isAsked: boolean) {
  // Null while there is nothing to check: the empty post before the first letter has problems that the user did not make.
  const [settled] = useDebouncedValue(isAsked ? body : null, TYPING_MS)
  const report = useQuery({
    queryKey: ['validate', settled],
    queryFn: ({ signal }) => client.posts.validate(settled!, { signal }).catch(toRefusal),
    enabled: isAsked && settled !== null,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
  })
  return isAsked ? report : { data: undefined, isError: false as const, error: null }
}

/** A field that the API cannot read at all refuses the check with its problem. */
function toRefusal(error: unknown): Report {
  if (!(error instanceof ApiError) || error.problems.length === 0) throw error
  return { valid: false, errors: error.problems, warnings: [], platforms: {} }
}

/** The problems of the post, for the fields that they belong to. */
export const ReportContext = createContext<Report | undefined>(undefined)

/** Returns the errors of a field by its path in the request, and below it, each sentence once; null without any. */
export function useFieldError(path: string): string | null {
  const report = use(ReportContext)
  const own = (report?.errors ?? []).filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`))
  return own.length === 0 ? null : [...new Set(own.map(describeProblem))].join(' ')
}

/** Sentences of the API that name its fields, in the words of this page. */
export function describeProblem({ code, message }: Problem): string {
  if (code === 'NOT_SUPPORTED') return message.replace(/ Set `onUnsupported`.*$/, ' Choose what happens there.')
  if (code === 'LEFT_OUT') return message.replace(/, or set `onUnsupported` to `join`/, ', or join it to one post')
  if (code === 'URL_INVALID') return message.replace(/^quoteUrl must be/, 'This must be')
  return asSentence(message)
}

const asSentence = (message: string) => (/[.!?]$/.test(message) ? message : `${message}.`)
