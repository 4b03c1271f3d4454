/** Output modalities of a model, guessed from its name: lists of providers seldom have more. */
export function outputsOf(name: string): readonly string[] {
  const [, kind] = KINDS.find(([pattern]) => pattern.test(name)) ?? []
  return kind === undefined ? ["text"] : [kind]
}

/** False for names that are not callable models. */
export function isCallable(name: string): boolean {
  return !/guard(?:rail)?s?-|babbage|davinci|^ft:|realtime|computer-use/i.test(name)
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/rerank/i, "rerank"],
  [/moderation/i, "decisions"],
  [/embed|(?:^|[/_-])(?:bge|e5|gte|nomic|minilm|mxbai|arctic)[-_]/i, "embeddings"],
  [/whisper|transcri|(?:^|[/_-])asr(?:$|[-_])/i, "transcription"],
  [/(?:^|[/_-])tts(?:$|[-_:])|text-to-speech/i, "speech"],
  [/dall-e|gpt-image|imagen|stable-diffusion|(?:^|\/)flux|(?:^|[/_-])sdxl/i, "image"],
  [/(?:^|[/_-])(?:sora|veo)(?:$|[-_])|text-to-video/i, "video"],
]
