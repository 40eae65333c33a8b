/** Parameters of an address; a list is sent as so many parameters of one name. */
export type Query = Record<string, string | string[]>

export function toQueryString(params: Query): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return new URLSearchParams(pairs).toString()
}
