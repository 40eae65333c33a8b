import { AreaChart } from '@mantine/charts'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import type { AnalyticsQuery } from './analytics-query.ts'
import { CsvButton } from './csv-button.tsx'
import { shortDay } from './days.ts'

const HEIGHT = 240

export function Engagement({ query }: { query: AnalyticsQuery }) {
  const timeline = useQuery({
    queryKey: ['analytics', 'timeline', query],
    queryFn: () => client.analytics.timeline(query),
  })
  return (
    <Section title="Engagement per day" actions={<CsvButton figures="timeline" query={query} />}>
      <QueryView query={timeline}>
        {(days) => (
          <AreaChart
            h={HEIGHT}
            data={days.map(({ _id, likes, comments, shares }) => ({ day: shortDay(_id), likes, comments, shares }))}
            dataKey="day"
            type="stacked"
            curveType="monotone"
            withDots={false}
            areaProps={{ isAnimationActive: false }}
            withLegend
            series={[
              { name: 'likes', label: 'Likes', color: 'ink.5' },
              { name: 'comments', label: 'Comments', color: 'teal.5' },
              { name: 'shares', label: 'Shares', color: 'orange.5' },
            ]}
          />
        )}
      </QueryView>
    </Section>
  )
}
