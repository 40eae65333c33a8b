/** Parameters of a URL. A list becomes repeated parameters. */
export type Query = Record<string, string | string[]>

export function toQueryString(params: Query): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return new URLSearchParams(pairs).toString()
}
