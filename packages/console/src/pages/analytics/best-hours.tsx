import { MatrixChart } from '@mantine/charts'
import { List, ScrollArea, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { countOf } from '../../shared/counts.ts'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { useTimes } from '../../shared/times.ts'
import type { AnalyticsQuery } from './analytics-query.ts'
import { CsvButton } from './csv-button.tsx'

const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short', timeZone: 'UTC' })
/** A Sunday, which is day 0 of the API. */
const SUNDAY = Date.UTC(2023, 0, 1)
const DAYS = Array.from({ length: 7 }, (_, day) => weekday.format(SUNDAY + day * 86_400_000))
const mean = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** The mean engagement of posts by the hour in which they were published. */
export function BestHours({ query }: { query: AnalyticsQuery }) {
  const { timezone } = useTimes()
  const heatmap = useQuery({
    queryKey: ['analytics', 'heatmap', query],
    queryFn: () => client.analytics.heatmap(query),
  })
  return (
    <Section
      title="Best hours"
      lead={`Mean engagement by weekday and hour, in ${timezone}`}
      actions={<CsvButton figures="heatmap" query={query} />}
    >
      <QueryView query={heatmap}>
        {(hours) => {
          const counts = new Map(hours.map(({ day, hour, postCount }) => [`${DAYS[day]} ${hour}`, postCount]))
          if (hours.every(({ postCount }) => postCount === 0))
            return <Text c="dimmed">No post was published in this period.</Text>
          const best = hours.filter(({ rank }) => rank !== undefined).toSorted((one, other) => one.rank! - other.rank!)
          return (
            <>
              {best.length > 0 && (
                <List type="ordered" size="sm" mb="sm">
                  {best.map(({ day, hour, value, postCount }) => (
                    <List.Item key={`${day} ${hour}`}>
                      {DAYS[day]} at {hour}:00: {mean.format(value ?? 0)} on average of {countOf(postCount, 'post')}
                    </List.Item>
                  ))}
                </List>
              )}
              <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
                <MatrixChart
                  miw={425}
                  data={hours.map(({ day, hour, value, postCount }) => ({
                    x: String(hour),
                    y: DAYS[day]!,
                    value: postCount === 0 ? null : value,
                  }))}
                  xLabels={Array.from({ length: 24 }, (_, hour) => String(hour))}
                  yLabels={DAYS}
                  colors={['var(--heat-1)', 'var(--heat-2)', 'var(--heat-3)', 'var(--heat-4)']}
                  withXLabels
                  withYLabels
                  xLabelsRotation={0}
                  xLabelsHeight={24}
                  yLabelsWidth={36}
                  cellSize={15}
                  withLegend
                  withTooltip
                  getTooltipLabel={({ x, y, value }) =>
                    value === null
                      ? `${y} ${x}:00, no posts`
                      : `${y} ${x}:00, ${mean.format(value)} on average, ${countOf(counts.get(`${y} ${x}`) ?? 0, 'post')}`
                  }
                  role="img"
                  aria-label="Mean engagement by weekday and hour"
                />
              </ScrollArea>
            </>
          )
        }}
      </QueryView>
    </Section>
  )
}
