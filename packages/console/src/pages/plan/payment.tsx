import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX, Hourglass } from 'lucide-react'
import { client } from '../../session/session.ts'
import { Empty } from '../../shared/states.tsx'

/** How often the plan is read until the payment processor has confirmed the payment. */
const WAITING_MS = 2_000

const toPlan = (
  <Button component={Link} to="/plan">
    Your plan
  </Button>
)

/** Where the payment processor returns to after a checkout. */
export function PaymentSuccessPage() {
  const { data } = useQuery({
    queryKey: ['subscription'],
    queryFn: () => client.request('GET', '/api/payments/status'),
    refetchInterval: ({ state }) => (state.data?.plan === 'pro' ? false : WAITING_MS),
  })
  return data?.plan === 'pro' ? (
    <Empty icon={CircleCheck} title="You are on Pro" action={toPlan}>
      Your payment went through. Thank you.
    </Empty>
  ) : (
    <Empty icon={Hourglass} title="Thank you" action={toPlan}>
      Pro starts as soon as the payment is confirmed. This page shows it.
    </Empty>
  )
}

export function PaymentCancelPage() {
  return (
    <Empty icon={CircleX} title="The checkout was cancelled" action={toPlan}>
      You paid nothing, and your plan is the same as before.
    </Empty>
  )
}
