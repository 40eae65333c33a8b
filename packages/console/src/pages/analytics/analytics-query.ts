/** The query of every part of the page: a named period or days of the user's timezone. */
export interface AnalyticsQuery {
  period?: '7d' | '30d'
  from?: string
  to?: string
  accounts?: string[]
  group?: string[]
}
