/** FNV-1a of the code points of a text, as a signed 32-bit integer. Not for secrets. */
export function fnv1a(seed: number, text: string): number {
  let hash = seed
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return hash
}

export const FNV_SEED = 0x811c9dc5

/** 8 hex digits that distinguish short texts from each other. */
export function shortHash(text: string): string {
  return (fnv1a(FNV_SEED, text) >>> 0).toString(16).padStart(8, "0")
}
