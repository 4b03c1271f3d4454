import type { LogLine } from "./runtime.ts"

export function newLogPrinter(out: NodeJS.WriteStream, _format: string | undefined): (line: LogLine) => void {
  return ({ message }) => void out.write(`${message}\n`)
}
