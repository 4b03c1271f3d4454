/**
 * What a model takes that others refuse, by its id: the models' documentation and the published clients of the wire.
 */
export type Traits = {
  /** A budget of tokens, an effort and its own judgement, or either. Endpoints of other makers know the budget. */
  thinks: "by budget" | "adaptively" | "either way"
  /** It refuses a request that turns thinking off. */
  alwaysThinks: boolean
  /** The values of `output_config.effort`, weakest first; none where the field is refused. */
  efforts: readonly string[]
  /** Whether `temperature`, `top_p` and `top_k` are taken at all. */
  samples: boolean
  /** Refuses `temperature` and `top_p` in one request. */
  samplesOneWay: boolean
  /** The output limit for a request that names none, which this wire insists on. All such models allow it. */
  maxTokens: number
}

/** For endpoints of which nothing is known. */
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

/** A version, as ids end it: with nothing more, or with a date or a cloud's own suffix. */
const version = (name: string) => new RegExp(`claude-${name}(?:$|[@:]|-(?:\\d{8}|latest|v\\d))`)

/** The first that fits. Claude models that are not listed are newer than this list, and take what the newest take. */
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
