import { LineChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { PLATFORMS, type Platform } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import type { AnalyticsQuery } from './analytics-query.ts'
import { CsvButton } from './csv-button.tsx'
import { shortDay } from './days.ts'

const HEIGHT = 240
const whole = new Intl.NumberFormat()
/** Apart from each other in light and dark; the legend names them. */
const COLORS: Record<Platform, string> = {
  bluesky: 'blue.5',
  threads: 'gray.6',
  instagram: 'pink.5',
  facebook: 'indigo.6',
  mastodon: 'violet.5',
  tumblr: 'cyan.7',
}

export function Followers({ query }: { query: AnalyticsQuery }) {
  const growth = useQuery({ queryKey: ['analytics', 'growth', query], queryFn: () => client.analytics.growth(query) })
  return (
    <Section title="Followers" actions={<CsvButton figures="growth" query={query} />}>
      <QueryView query={growth}>
        {(days) => {
          const platforms = (Object.keys(PLATFORMS) as Platform[]).filter((platform) =>
            days.some(({ breakdown }) => breakdown[platform] !== undefined),
          )
          if (platforms.length === 0) return <Text c="dimmed">No platform has reported a number yet.</Text>
          return (
            <LineChart
              h={HEIGHT}
              data={days.map(({ _id, breakdown }) => ({ day: shortDay(_id), ...breakdown }))}
              dataKey="day"
              curveType="monotone"
              withDots={days.length < 3}
              withLegend
              valueFormatter={(value) => whole.format(value)}
              lineProps={{ isAnimationActive: false }}
              connectNulls
              series={platforms.map((platform) => ({
                name: platform,
                label: PLATFORMS[platform].name,
                color: COLORS[platform],
              }))}
            />
          )
        }}
      </QueryView>
    </Section>
  )
}
