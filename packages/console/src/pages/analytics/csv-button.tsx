import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { saveFile } from '../../shared/save-file.ts'
import type { AnalyticsQuery } from './analytics-query.ts'

type Figures = Parameters<typeof client.analytics.download>[0]

/** Downloads the figures that a part of the page shows. */
export function CsvButton({ figures, query }: { figures: Figures; query: AnalyticsQuery }) {
  const loading = useMutation({
    mutationFn: () => client.analytics.download(figures, query),
    onError: showError,
    onSuccess: (file) => saveFile(file, `postonce-${figures.replace('/', '-')}.csv`),
  })
  return (
    <Button
      className="no-print"
      size="compact-xs"
      variant="default"
      aria-label={`CSV of ${figures}`}
      loading={loading.isPending}
      onClick={() => loading.mutate()}
    >
      CSV
    </Button>
  )
}
