import { createHash } from "node:crypto"

export function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
}

/** Not Web Crypto: its promise and the hex made in script cost ten times the hash. */
export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
