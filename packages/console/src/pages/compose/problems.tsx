import { Alert, List } from '@mantine/core'
import { PLATFORMS, type Account, type Platform } from '../../shared/platforms.tsx'
import { describeProblem, type Problem } from './report.ts'

interface ProblemsProps {
  errors: Problem[]
  warnings: Problem[]
  accounts: Account[]
}

/** The errors that keep the post from being published, and the warnings. */
export function Problems({ errors, warnings, accounts }: ProblemsProps) {
  return (
    <div role="status">
      {errors.length > 0 && (
        <Alert color="red" title="This must change before it can be published" mb="sm">
          <ProblemList problems={errors} accounts={accounts} />
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="yellow" title="Please check">
          <ProblemList problems={warnings} accounts={accounts} />
        </Alert>
      )}
    </div>
  )
}

/** Each problem once, with the account that it concerns. */
export function ProblemList({ problems, accounts }: { problems: Problem[]; accounts: Account[] }) {
  const name = ({ platform, accountId }: Problem) => {
    const account = accounts.find(({ _id }) => _id === accountId)
    const where = account?.platform ?? (platform as Platform | undefined)
    return where && PLATFORMS[where] ? `${PLATFORMS[where].name}${account ? ` ${account.profile.handle}` : ''}: ` : ''
  }
  return (
    <List size="sm" spacing={4}>
      {[...new Set(problems.map((problem) => `${name(problem)}${describeProblem(problem)}`))].map((line) => (
        <List.Item key={line}>{line}</List.Item>
      ))}
    </List>
  )
}
