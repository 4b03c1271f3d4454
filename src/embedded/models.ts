import { delayedStatuses, failureStatuses } from "./statuses.ts"

export interface EmbeddedModel {
  slug: string
  name: string
  description: string
  tools?: true
  reasoning?: true
  structured?: true
  embeddings?: true
  /** Id of the author, if it is not `sim`. */
  author?: string
}

const statusModels = failureStatuses.flatMap((status): EmbeddedModel[] => {
  const slug = `status-${status}`
  const name = `Status ${status}`
  if (!delayedStatuses.includes(status)) return [{ slug, name, description: `Returns ${status}.` }]
  return [
    { slug, name, description: `Returns ${status} with Retry-After in seconds.` },
    {
      slug: `${slug}:date`,
      name: `${name} (date)`,
      description: `Returns ${status} with Retry-After as an HTTP date.`,
    },
    { slug: `${slug}:ms`, name: `${name} (ms)`, description: `Returns ${status} with retry-after-ms alone.` },
  ]
})

export const embeddedModels: readonly EmbeddedModel[] = [
  {
    slug: "guide",
    name: "Guide",
    author: "embedded",
    description: "Answers questions about this gateway from its documentation. A search, not a language model.",
    tools: true,
    structured: true,
  },
  { slug: "echo", name: "Echo", description: "Repeats the last user message." },
  { slug: "echo:free", name: "Echo (free)", description: "Repeats the last user message, free of charge." },
  { slug: "slow", name: "Slow", description: "Waits six seconds before anything, then repeats the message." },
  { slug: "paced", name: "Paced", description: "Repeats the message at 50 tokens a second, 100 tokens at least." },
  { slug: "long", name: "Long", description: "Sends 4,000 tokens of numbered words." },
  { slug: "tool-call", name: "Tool call", description: "Calls the first tool, or the requested one.", tools: true },
  { slug: "parallel-tools", name: "Parallel tools", description: "Calls up to three tools at once.", tools: true },
  {
    slug: "agent",
    name: "Agent",
    description: "Runs what follows `$ ` in the shell it is given, at a pace.",
    tools: true,
  },
  { slug: "json", name: "JSON", description: "Returns a document that fits the schema.", structured: true },
  { slug: "reasoning", name: "Reasoning", description: "Thinks aloud, then repeats the message.", reasoning: true },
  { slug: "refusal", name: "Refusal", description: "Refuses to answer, politely." },
  { slug: "embed", name: "Embeddings", description: "Vectors in which shared words are near.", embeddings: true },
  ...statusModels,
  { slug: "empty", name: "Empty", description: "Returns 200 with an empty body." },
  { slug: "html", name: "HTML", description: "Returns 200 with a web page." },
  { slug: "first-frame-error", name: "First-frame error", description: "Returns 200 whose first event is an error." },
  { slug: "late-error", name: "Late error", description: "Sends ten tokens, then an error." },
  { slug: "cut", name: "Cut", description: "Sends ten tokens, then the connection breaks inside an event." },
  { slug: "stall", name: "Stall", description: "Sends ten tokens, then nothing, with the connection open." },
  { slug: "no-done", name: "No done", description: "Ends without [DONE]." },
  { slug: "no-usage", name: "No usage", description: "Never reports usage." },
  { slug: "zero-usage", name: "Zero usage", description: "Reports zero tokens for a real response." },
  { slug: "odd-usage", name: "Odd usage", description: "Reports usage beside an empty delta, after the finish." },
  { slug: "cached-tokens", name: "Cached tokens", description: "Reports half of the prompt as cached." },
  { slug: "crlf", name: "CRLF", description: "Ends every line of the stream with CRLF." },
  { slug: "comments", name: "Comments", description: "Puts comment lines around and inside events." },
  { slug: "byte-chunks", name: "Byte chunks", description: "Sends the body one byte at a time." },
  { slug: "split-utf8", name: "Split UTF-8", description: "Splits the body in the middle of characters." },
  { slug: "null-usage", name: "Null usage", description: "Sends null for usage and fingerprint on every chunk." },
  { slug: "bare-chunks", name: "Bare chunks", description: "Leaves required keys out of every chunk but the last." },
]

/** Models that are also served in the other API formats. */
export const formatSlugs: readonly string[] = [
  "echo",
  "tool-call",
  "parallel-tools",
  "json",
  "reasoning",
  "first-frame-error",
  "late-error",
  "cut",
  "status-429",
  "no-usage",
]
