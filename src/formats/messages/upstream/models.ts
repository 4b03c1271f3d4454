/**
 * Parameters by model id, from the models' documentation and the published clients of the API.
 */
export type Traits = {
  /** Thinking with a token budget, adaptive with an effort, or both. Models of other vendors support the budget. */
  thinks: "by budget" | "adaptively" | "either way"
  /** Rejects a request that turns thinking off. */
  alwaysThinks: boolean
  /** Values of `output_config.effort`, lowest first; empty if the field is rejected. */
  efforts: readonly string[]
  /** Whether `temperature`, `top_p` and `top_k` are supported. */
  samples: boolean
  /** Rejects `temperature` together with `top_p`. */
  samplesOneWay: boolean
  /** Output limit for a request without one, since the API requires it. All these models allow it. */
  maxTokens: number
}

/** For unknown endpoints. */
export const DEFAULT_MAX_TOKENS = 8_192
const CLAUDE_MAX_TOKENS = 32_000
const OLDEST_CLAUDE_MAX_TOKENS = 4_096

const OTHER: Traits = {
  thinks: "by budget",
  alwaysThinks: false,
  efforts: [],
  samples: true,
  samplesOneWay: false,
  maxTokens: DEFAULT_MAX_TOKENS,
}
const CLAUDE: Traits = { ...OTHER, samplesOneWay: true, maxTokens: CLAUDE_MAX_TOKENS }
const NEWEST: Traits = {
  ...CLAUDE,
  thinks: "adaptively",
  efforts: ["low", "medium", "high", "xhigh", "max"],
  samples: false,
}

/** Matches a version at the end of an id, optionally with a date or the suffix of a cloud. */
const version = (name: string) => new RegExp(`claude-${name}(?:$|[@:]|-(?:\\d{8}|latest|v\\d))`)

/** The first match counts. Unlisted Claude models are newer than this list and are treated like the newest. */
const MODELS: readonly (readonly [RegExp, Traits])[] = [
  [/^(?!.*claude-)/, OTHER],
  [/claude-(?:instant|v?2|3-(?:opus|sonnet|haiku))/, { ...CLAUDE, maxTokens: OLDEST_CLAUDE_MAX_TOKENS }],
  [/claude-3-5/, { ...CLAUDE, maxTokens: DEFAULT_MAX_TOKENS }],
  [/claude-3/, CLAUDE],
  [
    version("(?:opus|sonnet|haiku)-4[.-]6"),
    { ...CLAUDE, thinks: "either way", efforts: ["low", "medium", "high", "max"] },
  ],
  [version("opus-4[.-]5"), { ...CLAUDE, efforts: ["low", "medium", "high"] }],
  [version("(?:opus|sonnet|haiku)-4(?:[.-][0-5])?"), CLAUDE],
  [/claude-(?:fable-5|(?:opus|sonnet)-5[.-]5)/, { ...NEWEST, alwaysThinks: true }],
]

export function traitsOf(upstreamId: string): Traits {
  return MODELS.find(([pattern]) => pattern.test(upstreamId))?.[1] ?? NEWEST
}
