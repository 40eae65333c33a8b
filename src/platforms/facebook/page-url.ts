/** Returns the URL that Facebook states, which may lack the host, or the URL of another page of its website. */
export function toPageUrl(webUrl: string, stated: string | undefined, otherwise: string): string {
  const fallback = new URL(otherwise, webUrl)
  const url = stated !== undefined && URL.canParse(stated, webUrl) ? new URL(stated, webUrl) : fallback
  return (/^https?:$/.test(url.protocol) ? url : fallback).href
}
