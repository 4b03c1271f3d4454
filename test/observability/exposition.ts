/** A strict parser of the Prometheus text format, version 0.0.4. */

export type Sample = { name: string; labels: Record<string, string>; value: number }

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y
const TYPES = ["counter", "gauge", "histogram"]

/** Throws when a line violates the format. */
export function parseExposition(text: string): Map<string, Sample[]> {
  if (!text.endsWith("\n")) throw new Error("The last line has no line feed.")
  const families = new Map<string, Sample[]>()
  const types = new Map<string, string>()
  for (const line of text.slice(0, -1).split("\n")) {
    if (line.startsWith("# ")) readComment(line, types, families)
    else readSample(line, types, families)
  }
  for (const [name, type] of types) if (type === "histogram") checkHistogram(name, families.get(name) ?? [])
  return families
}

function readComment(line: string, types: Map<string, string>, families: Map<string, Sample[]>): void {
  const [, kind = "", name = "", ...rest] = line.split(" ")
  if (!NAME.test(name)) throw new Error(`Not a name: ${line}`)
  if (kind === "TYPE") {
    if (types.has(name) || !TYPES.includes(rest.join(" "))) throw new Error(`A second or an unknown type: ${line}`)
    types.set(name, rest.join(" "))
    families.set(name, [])
  } else if (kind !== "HELP") throw new Error(`Not a comment: ${line}`)
}

function readSample(line: string, types: Map<string, string>, families: Map<string, Sample[]>): void {
  const [, name = "", inside, value = ""] = SAMPLE.exec(line) ?? []
  const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "")
  const known = families.get(family)
  if (!known || [...families.keys()].at(-1) !== family) throw new Error(`Not in its family: ${line}`)
  if (!Number.isFinite(Number(value))) throw new Error(`Not a number: ${line}`)
  const labels = readLabels(inside ?? "")
  const key = JSON.stringify([name, labels])
  if (known.some((other) => JSON.stringify([other.name, other.labels]) === key)) throw new Error(`Twice: ${line}`)
  known.push({ name, labels, value: Number(value) })
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex
    const [, name, value = ""] = LABEL.exec(text) ?? []
    if (name === undefined) throw new Error(`Not a label: ${text.slice(at)}`)
    labels[name] = value.replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char))
  }
  return labels
}

/** Buckets are cumulative and end with +Inf, which equals the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const keyOf = ({ labels: { le: _le, ...labels } }: Sample) => JSON.stringify(labels)
  for (const series of Map.groupBy(samples, keyOf).values()) {
    const buckets = series.filter((sample) => sample.name === `${name}_bucket`)
    const count = series.find((sample) => sample.name === `${name}_count`)?.value
    const isCumulative = buckets.every(({ value }, at) => at === 0 || value >= (buckets[at - 1]?.value ?? 0))
    const last = buckets.at(-1)
    if (!isCumulative || last?.labels["le"] !== "+Inf" || last.value !== count)
      throw new Error(`Not a histogram: ${name}`)
    if (!series.some((sample) => sample.name === `${name}_sum`)) throw new Error(`No sum: ${name}`)
  }
}
