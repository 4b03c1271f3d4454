/** Cancels dispatch when the client disconnects: the attempt under way and those to come. */
export class DispatchAbort {
  #attempt: AbortController | undefined
  aborted = false

  abort(): void {
    this.aborted = true
    this.#attempt?.abort()
  }

  /** Sets the attempt to abort. */
  follow(attempt: AbortController): void {
    this.#attempt = attempt
    if (this.aborted) attempt.abort()
  }
}
