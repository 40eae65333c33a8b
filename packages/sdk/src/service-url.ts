/** @throws TypeError for an address without `http://` or `https://`, to which every request would fail */
export function assertServiceUrl(url: string): void {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return
  throw new TypeError(
    `"${url}" is not the address of a service. Use one with a scheme, such as https://postonce.example.com.`,
  )
}
