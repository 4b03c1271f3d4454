/** The element at an index that the caller knows to be within the list. */
export function elementAt<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index]
  if (element === undefined) throw new RangeError(`There is no element ${index} in a list of ${list.length}.`)
  return element
}

/** The keys of an object that has no others than its type names. */
export function keysOf<Key extends string>(record: Readonly<Partial<Record<Key, unknown>>>): Key[] {
  return Object.keys(record) as Key[]
}
