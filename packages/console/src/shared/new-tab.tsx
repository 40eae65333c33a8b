import { ExternalLink } from 'lucide-react'

/** Marks a link that opens in a new tab. */
export const NewTab = () => (
  <ExternalLink size={13} aria-label="in a new tab" role="img" style={{ verticalAlign: '-0.1em' }} />
)
