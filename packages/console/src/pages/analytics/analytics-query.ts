/** What every part of the page asks for. */
export interface AnalyticsQuery {
  period: '7d' | '30d'
  accounts?: string[]
}
