/** An error that ends a command, with its message and exit code. */
export class Failure extends Error {
  readonly exitCode: number

  /** 1: the gateway rejected the request. 2: wrong arguments, or no gateway. */
  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
