/** Returns a fake that has only these members, for code that uses no others. */
export function partial<T extends object>(members: Partial<NoInfer<T>>): T {
  return members as T
}
