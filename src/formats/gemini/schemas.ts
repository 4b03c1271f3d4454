import * as z from "zod"
import { ChatRequest } from "../schemas.ts"

/**
 * Google's Gemini API (`generateContent`). A request is translated to the chat format, whose schema checks the values
 * that both share. Unknown fields are ignored. https://ai.google.dev/api/generate-content
 */

const text = z.string({ error: "must be a string" })
const flag = z.boolean({ error: "must be true or false" })
const anything = z.record(z.string(), z.unknown(), { error: "must be an object" })
const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `accepts ${values.join(", ")}` }).nullish()

const Blob = z.looseObject({ mimeType: text, data: text })

export const GeminiPart = z
  .looseObject({
    text: text.nullish(),
    thought: flag.nullish(),
    thoughtSignature: text.nullish(),
    inlineData: Blob.nullish(),
    fileData: z.looseObject({ mimeType: text.nullish(), fileUri: text }).nullish(),
    functionCall: z.looseObject({ id: text.nullish(), name: text, args: anything.nullish() }).nullish(),
    functionResponse: z
      .looseObject({
        id: text.nullish(),
        name: text,
        response: anything.nullish(),
        parts: z.array(z.looseObject({ inlineData: Blob.nullish() })).nullish(),
      })
      .nullish(),
    executableCode: z.looseObject({ code: text }).nullish(),
    codeExecutionResult: z.looseObject({ output: text.nullish() }).nullish(),
  })
  .meta({ id: "GeminiPart" })
export type GeminiPart = z.infer<typeof GeminiPart>

export const GeminiContent = z
  .looseObject({
    role: z.enum(["user", "model", "function"], { error: "accepts user, model and function" }).nullish(),
    parts: z.array(GeminiPart, { error: "must be an array of parts" }).nullish(),
  })
  .meta({ id: "GeminiContent" })
export type GeminiContent = z.infer<typeof GeminiContent>

const Instruction = z.looseObject({ parts: z.array(GeminiPart, { error: "must be an array of parts" }).nullish() })

const Function = z.looseObject({
  name: text,
  description: text.nullish(),
  parameters: anything.nullish(),
  parametersJsonSchema: anything.nullish(),
})

const Tool = z.looseObject({
  functionDeclarations: z.array(Function, { error: "must be an array of functions" }).nullish(),
  googleSearch: anything.nullish(),
  googleSearchRetrieval: anything.nullish(),
  urlContext: anything.nullish(),
})
export type GeminiTool = z.infer<typeof Tool>

const ToolConfig = z.looseObject({
  functionCallingConfig: z
    .looseObject({
      mode: oneOf(["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"]),
      allowedFunctionNames: z.array(text, { error: "must be an array of names" }).nullish(),
    })
    .nullish(),
})

const LEVELS = ["THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"] as const

const number = z.number({ error: "must be a number" }).nullish()

const GenerationConfig = z.looseObject({
  stopSequences: z.array(text, { error: "must be an array of strings" }).nullish(),
  responseMimeType: oneOf(["", "text/plain", "application/json"]),
  responseSchema: anything.nullish(),
  responseJsonSchema: anything.nullish(),
  responseModalities: z.array(text, { error: "must be an array of modalities" }).nullish(),
  candidateCount: number,
  maxOutputTokens: number,
  temperature: number,
  topP: number,
  topK: number,
  seed: number,
  presencePenalty: number,
  frequencyPenalty: number,
  responseLogprobs: flag.nullish(),
  logprobs: number,
  thinkingConfig: z
    .looseObject({
      includeThoughts: flag.nullish(),
      thinkingBudget: z.int({ error: "must be an integer of at least -1" }).min(-1).nullish(),
      thinkingLevel: z.preprocess((level) => (typeof level === "string" ? level.toUpperCase() : level), oneOf(LEVELS)),
    })
    .nullish(),
})
export type GenerationConfig = z.infer<typeof GenerationConfig>

const chat = ChatRequest.shape
/** Fields of the gateway, with the names that they have in every format. */
const gatewayFields = {
  models: chat.models,
  preset: chat.preset,
  provider: chat.provider,
  plugins: chat.plugins,
  session_id: chat.session_id,
  user: chat.user,
  metadata: chat.metadata,
  trace: chat.trace,
  stop_server_tools_when: chat.stop_server_tools_when,
}

export const GATEWAY_FIELD_NAMES: ReadonlySet<string> = new Set(Object.keys(gatewayFields))

const contents = z
  .array(GeminiContent, { error: "must be an array of contents" })
  .min(1, "must have at least 1 content")

const prompt = {
  contents,
  systemInstruction: Instruction.nullish(),
  tools: z.array(Tool, { error: "must be an array of tools" }).nullish(),
}

export const GeminiRequest = z
  .looseObject({
    ...prompt,
    toolConfig: ToolConfig.nullish(),
    generationConfig: GenerationConfig.nullish(),
    serviceTier: text.nullish(),
    cachedContent: z.null({ error: "is not available on this gateway: send the content" }).optional(),
    ...gatewayFields,
  })
  .meta({ id: "GeminiRequest" })
export type GeminiRequest = z.infer<typeof GeminiRequest>

export const GeminiCountRequest = z
  .looseObject({
    ...prompt,
    contents: contents.optional(),
    generateContentRequest: z.looseObject(prompt).nullish(),
  })
  .refine((body) => body.contents ?? body.generateContentRequest, {
    path: ["contents"],
    error: "must be an array of contents",
  })
  .meta({ id: "GeminiCountRequest" })
export type GeminiCountRequest = z.infer<typeof GeminiCountRequest>

export const GeminiCount = z.object({ totalTokens: z.int() }).meta({ id: "GeminiCount" })

const EmbedContent = z.looseObject({
  content: Instruction,
  outputDimensionality: z.int({ error: "must be an integer of at least 1" }).min(1).nullish(),
})

export const GeminiEmbedRequest = z
  .looseObject({ ...EmbedContent.shape, provider: chat.provider, session_id: chat.session_id, user: chat.user })
  .meta({ id: "GeminiEmbedRequest" })
export type GeminiEmbedRequest = z.infer<typeof GeminiEmbedRequest>

const MAX_INPUTS = 2_048
export const GeminiBatchEmbedRequest = z
  .looseObject({
    requests: z
      .array(EmbedContent, { error: "must be an array of requests" })
      .min(1, "must have at least 1 request")
      .max(MAX_INPUTS, `must have at most ${MAX_INPUTS} requests`),
    provider: chat.provider,
    session_id: chat.session_id,
    user: chat.user,
  })
  .meta({ id: "GeminiBatchEmbedRequest" })
export type GeminiBatchEmbedRequest = z.infer<typeof GeminiBatchEmbedRequest>

const Embedding = z.object({ values: z.array(z.number()) })
export const GeminiEmbedding = z.looseObject({ embedding: Embedding }).meta({ id: "GeminiEmbedding" })
export const GeminiEmbeddings = z.looseObject({ embeddings: z.array(Embedding) }).meta({ id: "GeminiEmbeddings" })

export const GeminiResponse = z
  .looseObject({
    candidates: z.array(
      z.looseObject({
        index: z.int(),
        content: z.looseObject({ role: z.literal("model"), parts: z.array(z.looseObject({})) }),
        finishReason: z.string().optional(),
      }),
    ),
    usageMetadata: z
      .looseObject({
        promptTokenCount: z.int(),
        candidatesTokenCount: z.int(),
        totalTokenCount: z.int(),
        cost: z.number().meta({ description: "USD charged for this call" }),
      })
      .optional(),
    modelVersion: z.string(),
    responseId: z.string(),
  })
  .meta({ id: "GeminiResponse" })

/** An event of a stream. The last one of a stream that failed has only an error. */
export const GeminiEvent = z
  .union([
    GeminiResponse,
    z.looseObject({ error: z.looseObject({ code: z.int(), message: z.string(), status: z.string() }) }),
  ])
  .meta({ id: "GeminiEvent" })
