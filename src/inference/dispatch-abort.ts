/** Cancels dispatch when the client disconnects: the attempt under way and those to come. */
export class DispatchAbort {
  #attempt: AbortController | undefined
  aborted = false

  abort(): void {
    this.aborted = true
    this.#attempt?.abort()
  }

  /** The attempt that is under way from now on. */
  follow(attempt: AbortController): void {
    this.#attempt = attempt
    if (this.aborted) attempt.abort()
  }
}
