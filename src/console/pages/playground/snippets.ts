export type Language = "curl" | "python" | "openai" | "openrouter"

export const LANGUAGES: readonly { id: Language; label: string }[] = [
  { id: "curl", label: "curl" },
  { id: "python", label: "Python" },
  { id: "openai", label: "TypeScript (openai)" },
  { id: "openrouter", label: "TypeScript (@openrouter/sdk)" },
]

type Json = Record<string, unknown>

/** A call as code. The key is an environment variable and never part of the text. */
export function snippet(language: Language, baseUrl: string, body: Json): string {
  const streamed = { ...body, stream: true }
  switch (language) {
    case "curl":
      return curl(baseUrl, streamed)
    case "python":
      return python(baseUrl, streamed)
    case "openai":
      return openai(baseUrl, streamed)
    case "openrouter":
      return openrouter(baseUrl, streamed)
  }
}

function curl(baseUrl: string, body: Json): string {
  // A quote ends the shell string, is escaped, and starts it again.
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)
  return [
    `curl -N ${baseUrl}/chat/completions \\`,
    `  -H "Authorization: Bearer $GATEWAY_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${json}'`,
  ].join("\n")
}

/** Fields that OpenAI's Python client accepts as arguments; others go into `extra_body`. */
const OPENAI_FIELDS = new Set(
  `model messages stream temperature top_p max_tokens seed stop tools response_format`.split(" "),
)

function python(baseUrl: string, body: Json): string {
  const entries = Object.entries(body)
  const openAiFields = entries.filter(([name]) => OPENAI_FIELDS.has(name))
  const others = entries.filter(([name]) => !OPENAI_FIELDS.has(name))
  const lines = openAiFields.map(([name, value]) => `    ${name}=${indent(toPython(value), 4)},`)
  if (others.length > 0) lines.push(`    extra_body=${indent(toPython(Object.fromEntries(others)), 4)},`)
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["GATEWAY_API_KEY"])

stream = client.chat.completions.create(
${lines.join("\n")}
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
`
}

const PYTHON_NAMES: Record<string, string> = { true: "True", false: "False", null: "None" }

/** JSON is valid Python except for three words, which are replaced outside of strings. */
function toPython(value: unknown): string {
  const json = JSON.stringify(value, null, 4)
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => PYTHON_NAMES[token] ?? token)
}

function indent(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`)
}

/** JSON without quotes around names that need none. */
function toScript(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, "$1$2:")
}

function openai(baseUrl: string, body: Json): string {
  return `import OpenAI from "openai"

const client = new OpenAI({ baseURL: "${baseUrl}", apiKey: process.env.GATEWAY_API_KEY })

const stream = await client.chat.completions.create(${toScript(body)})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")
`
}

/** This client's fields are in camel case. */
function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      name === "parameters" || name === "schema" ? inner : toCamelCase(inner),
    ]),
  )
}

function openrouter(baseUrl: string, body: Json): string {
  return `import { OpenRouter } from "@openrouter/sdk"

const client = new OpenRouter({ serverURL: "${baseUrl}", apiKey: process.env.GATEWAY_API_KEY })

const stream = await client.chat.send(${toScript({ chatRequest: toCamelCase(body) })})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")
`
}
