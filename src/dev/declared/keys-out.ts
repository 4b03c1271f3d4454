import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs"
import { Failure } from "../failure.ts"

export type NewSecret = { workspace: string; name: string; hash: string; key: string }

/** A new file for the secrets of new keys, one JSON object per line, readable by its owner only. */
export class KeysOut {
  readonly #file: string
  readonly #handle: number
  #count = 0

  constructor(file: string) {
    this.#file = file
    try {
      this.#handle = openSync(file, "wx", 0o600)
    } catch (error) {
      const exists = error instanceof Error && "code" in error && error.code === "EEXIST"
      const rule = exists ? "exists already. Secrets are never overwritten: use a new file." : "cannot be written."
      throw new Failure(`--keys-out: ${file} ${rule}`)
    }
  }

  add(secret: NewSecret): void {
    writeSync(this.#handle, `${JSON.stringify(secret)}\n`)
    fsyncSync(this.#handle)
    this.#count++
  }

  /** Closes the file, and removes it if no key was created. */
  close(): void {
    closeSync(this.#handle)
    if (this.#count === 0) unlinkSync(this.#file)
  }
}
