/** Returns a stand-in with only these members, for a subject that uses no others. */
export function partial<T extends object>(members: Partial<NoInfer<T>>): T {
  return members as T
}
