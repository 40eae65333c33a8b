import { Alert, Paper, Radio, Stack, Text } from '@mantine/core'
import { use } from 'react'
import { PLATFORMS, type Account } from '../../shared/platforms.tsx'
import { contentFor, type Draft, type UnsupportedPolicy } from './draft.ts'
import { describeProblem, ReportContext } from './report.ts'
import { isUnsupported, type ThreadRules } from './thread-rules.ts'

const POLICIES: Record<UnsupportedPolicy, { label: string; description: string }> = {
  refuse: { label: 'Refuse the post', description: 'Nothing is published anywhere until you change it.' },
  join: { label: 'Join to one post', description: 'The texts follow each other in one long post.' },
  skipPlatform: { label: 'Leave these platforms out', description: 'The post is published on the others only.' },
}

interface UnsupportedProps {
  draft: Draft
  /** The accounts that are chosen. */
  accounts: Account[]
  rules: ThreadRules
  onChange: (policy: UnsupportedPolicy) => void
}

/** The choice for platforms without threads or comments, if some are chosen, with the notices of the service. */
export function Unsupported({ draft, accounts, rules, onChange }: UnsupportedProps) {
  const report = use(ReportContext)
  const concerned = accounts.filter((account) => isUnsupported(contentFor(draft, account), rules[account.platform]))
  const problems = [...(report?.errors ?? []), ...(report?.warnings ?? [])].filter(({ path }) =>
    /\.(segments|firstComment|onUnsupported)$/.test(path),
  )
  const sentences = [...new Set(problems.map(describeProblem))]
  const notices = sentences.map((sentence) => (
    <Text key={sentence} size="sm">
      {sentence}
    </Text>
  ))
  if (concerned.length === 0) return sentences.length > 0 && <Alert variant="light">{notices}</Alert>
  return (
    <Paper withBorder p="sm">
      <Radio.Group
        label={`${namePlatforms(concerned)} cannot publish all of it. What happens there?`}
        value={draft.onUnsupported}
        onChange={onChange}
      >
        <Stack gap="xs" mt="xs">
          {Object.entries(POLICIES).map(([value, texts]) => (
            <Radio key={value} value={value} {...texts} />
          ))}
        </Stack>
      </Radio.Group>
      {notices.length > 0 && (
        <Stack gap={4} mt="sm" role="status">
          {notices}
        </Stack>
      )}
    </Paper>
  )
}

/** Such as "Facebook and Instagram". */
function namePlatforms(accounts: Pick<Account, 'platform'>[]): string {
  const names = [...new Set(accounts.map(({ platform }) => PLATFORMS[platform].name))]
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names)
}
