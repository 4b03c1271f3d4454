/** A stable 31-bit number for an app's name. FNV-1a. */
export function appIdOf(name: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 1
}
