/** A block of commands in a page, with the output that the page shows for them or in the terminal of the gateway. */
export type Step = { line: number; commands: string; printed: string[]; terminal: string[] }

/** The steps of a page: each ```sh block with the ```text blocks that follow it. */
export function stepsOf(page: string): Step[] {
  const steps: Step[] = []
  const lines = page.split("\n")
  for (let at = 0; at < lines.length; at++) {
    const kind = /^```(\S+)(?: (terminal))?$/.exec(lines[at] ?? "")
    if (!kind) continue
    const end = lines.indexOf("```", at + 1)
    const block = lines.slice(at + 1, end)
    if (kind[1] === "sh") steps.push({ line: at + 1, commands: block.join("\n"), printed: [], terminal: [] })
    else if (kind[2] === "terminal") steps.at(-1)?.terminal.push(...block)
    else steps.at(-1)?.printed.push(...block)
    at = end
  }
  return steps
}

/** Whether the lines match the expected ones. `…` matches any text, and a line of it alone any lines. */
export function matches(described: readonly string[], printed: readonly string[]): boolean {
  const [first, ...rest] = described
  if (first === undefined) return printed.length === 0
  if (first === "…") {
    return Array.from({ length: printed.length + 1 }).some((_, skipped) => matches(rest, printed.slice(skipped)))
  }
  const [line, ...others] = printed
  return line !== undefined && patternOf(first).test(line) && matches(rest, others)
}

function patternOf(line: string): RegExp {
  const parts = line.split("…").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join(".*")}$`, "s")
}
