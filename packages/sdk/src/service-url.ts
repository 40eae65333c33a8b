/** Returns true for an address with `http://` or `https://`. Every request to another one would fail. */
export function isServiceUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

/** @throws TypeError unless `isServiceUrl` accepts the address */
export function assertServiceUrl(url: string): void {
  if (isServiceUrl(url)) return
  throw new TypeError(
    `"${url}" is not the address of a service. Use one with a scheme, such as https://postonce.example.com.`,
  )
}
