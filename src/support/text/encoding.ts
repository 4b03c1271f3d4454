import { createHash } from "node:crypto"

export function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** More arguments than this overflow the stack. */
const MAX_ARGUMENTS = 8_192

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

export function toBase64(bytes: Uint8Array): string {
  let binary = ""
  for (let at = 0; at < bytes.byteLength; at += MAX_ARGUMENTS) {
    binary += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS))
  }
  return btoa(binary)
}

/** Standard or URL-safe, with or without padding; undefined if invalid. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
    return bytes
  } catch {
    return undefined
  }
}

/** Not Web Crypto: its promise and a hex conversion in script cost ten times the hash. */
export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}

/** Constant-time comparison of texts of equal length. */
export function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
