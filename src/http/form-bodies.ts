/**
 * Bodies that are not JSON. Their routes read them as they arrive, and a validator would read them first, so the API
 * document has them from here, by operation.
 */
type Schema = Readonly<Record<string, unknown>>
type RequestBody = { required: boolean; content: Record<string, { schema: Schema }> }

const text = { type: "string" }
const bytes = { type: "string", format: "binary" }
const component = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = (required: readonly string[], properties: Schema) => ({ type: "object", required, properties })
const form = (schema: Schema) => ({ "multipart/form-data": { schema } })
const BINARY: RequestBody = { required: false, content: { "*/*": { schema: bytes } } }

const FILE = {
  file: { ...bytes, description: "The file, with its name." },
  purpose: { ...text, pattern: "^[\\w-]{1,64}$", description: "Returns the record in the format of OpenAI's API." },
  "expires_after[anchor]": { ...text, enum: ["created_at"], description: "From when the time counts." },
  "expires_after[seconds]": {
    type: "integer",
    minimum: 3_600,
    maximum: 2_592_000,
    description: "Deletes the file after this time.",
  },
}

const model = { ...text, minLength: 1, maxLength: 256 }

/** The most common fields; those of `ImageRequest` are accepted too. */
const IMAGES = {
  image: { ...bytes, description: "The image to edit." },
  "image[]": { type: "array", items: bytes, maxItems: 16, description: "Several images." },
  mask: { ...bytes, description: "Transparent where the image may change." },
  model,
  prompt: { ...text, minLength: 1 },
  n: { type: "integer", minimum: 1, maximum: 10 },
  background: { ...text, enum: ["auto", "transparent", "opaque"] },
  output_format: { ...text, enum: ["png", "jpeg", "webp", "svg"], description: "Format of the images." },
  output_compression: { type: "integer", minimum: 0, maximum: 100 },
}

const AUDIO = {
  file: { ...bytes, description: "The audio, at most 25 MiB." },
  model,
  language: text,
  prompt: text,
  response_format: { ...text, enum: ["json", "text", "srt", "verbose_json", "vtt"] },
  temperature: { type: "number", minimum: 0, maximum: 1 },
  "timestamp_granularities[]": {
    type: "array",
    items: { ...text, enum: ["word", "segment"] },
    description: "Which parts have times, with `response_format` `verbose_json`.",
  },
}

const transcription: RequestBody = {
  required: true,
  content: {
    ...form(object(["file", "model"], AUDIO)),
    "application/json": { schema: component("TranscriptionRequest") },
  },
}

const TOKEN_EXCHANGE = {
  grant_type: { ...text, enum: ["urn:ietf:params:oauth:grant-type:token-exchange"], description: "RFC 8693." },
  subject_token: { ...text, description: "The token of the workload's issuer." },
  subject_token_type: text,
  federation_policy_id: { ...text, description: "The policy that accepts the issuer." },
  requested_token_type: text,
  scope: text,
}
const TOKEN_FIELDS = ["grant_type", "subject_token", "subject_token_type", "federation_policy_id"]

export const FORM_BODIES: Readonly<Record<string, RequestBody>> = {
  uploadFile: { required: true, content: form(object(["file"], FILE)) },
  editImages: { required: true, content: form(object(["prompt"], IMAGES)) },
  createTranscription: transcription,
  createTranslation: transcription,
  createOauthToken: {
    required: true,
    content: { "application/x-www-form-urlencoded": { schema: object(TOKEN_FIELDS, TOKEN_EXCHANGE) } },
  },
  writeInternFile: BINARY,
  postPassthrough: BINARY,
  putPassthrough: BINARY,
  patchPassthrough: BINARY,
}
