import { useQuery } from '@tanstack/react-query'
import { client } from '../session/session.ts'
import { PLATFORMS, type Account } from './platforms.tsx'

/** Reads the connected accounts of the user. */
export const useAccounts = () => useQuery({ queryKey: ['accounts'], queryFn: () => client.accounts.list() })

/** Such as "Bluesky ann.example". */
export const nameAccount = ({ platform, profile }: Account): string => `${PLATFORMS[platform].name} ${profile.handle}`
