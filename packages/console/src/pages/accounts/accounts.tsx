import { SimpleGrid } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plug } from 'lucide-react'
import { Page } from '../../shared/page.tsx'
import { useAccounts } from '../../shared/accounts.ts'
import { Empty, QueryView } from '../../shared/states.tsx'
import { AccountCard } from './account-card.tsx'
import { Brands } from './brands.tsx'
import { ConnectMenu } from './connect-menu.tsx'
import { ConnectOutcome } from './connect-outcome.tsx'
import { Offer } from './offer.tsx'

/** The outcome of a login on a platform's page, as the service puts it into the address. */
export interface ConnectResult {
  success?: string
  error?: string
  reason?: string
  offer?: string
}

export function AccountsPage() {
  const { offer, ...outcome } = useSearch({ from: '/signed-in/accounts' })
  const navigate = useNavigate({ from: '/accounts' })
  const accounts = useAccounts()
  return (
    <Page
      title="Accounts"
      lead="Where your posts are published."
      actions={<ConnectMenu accounts={accounts.data ?? []} />}
    >
      <ConnectOutcome {...outcome} close={() => void navigate({ search: {} })} />
      {offer && <Offer id={offer} close={() => void navigate({ search: {} })} />}
      <QueryView query={accounts}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={Plug} title="No account is connected yet" action={<ConnectMenu accounts={[]} />}>
              Connect an account, and write the first post for it.
            </Empty>
          ) : (
            <>
              <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
                {list.map((account) => (
                  <AccountCard
                    key={account._id}
                    account={account}
                    others={list.filter(({ _id, platform }) => platform === account.platform && _id !== account._id)}
                  />
                ))}
              </SimpleGrid>
              <Brands accounts={list} />
            </>
          )
        }
      </QueryView>
    </Page>
  )
}
