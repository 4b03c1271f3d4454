type Output = { write: (text: string) => unknown }

/** Writes lines of the same turn of the event loop together: under load, a write takes longer than its line. */
export function newLinePrinter(out: Output): (line: string) => void {
  let pending = ""
  const flush = () => {
    const text = pending
    pending = ""
    if (text !== "") out.write(text)
  }
  process.on("exit", flush)
  return (line) => {
    if (pending === "") setImmediate(flush)
    pending += `${line}\n`
  }
}
