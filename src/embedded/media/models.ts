export interface MediaModel {
  slug: string
  name: string
  description: string
  takes: "text" | "audio"
  makes: "rerank" | "decisions" | "image" | "speech" | "transcription" | "video"
}

export const mediaModels: readonly MediaModel[] = [
  {
    slug: "rerank",
    name: "Rerank",
    description: "Orders documents by the words they share with the query.",
    takes: "text",
    makes: "rerank",
  },
  {
    slug: "moderation",
    name: "Moderation",
    description: "Flags texts that contain one of a few words.",
    takes: "text",
    makes: "decisions",
  },
  {
    slug: "image",
    name: "Image",
    description: "Paints one dot, coloured by the prompt.",
    takes: "text",
    makes: "image",
  },
  {
    slug: "speech",
    name: "Speech",
    description: "Hums a note as long as the text, as WAV or PCM.",
    takes: "text",
    makes: "speech",
  },
  {
    slug: "transcribe",
    name: "Transcribe",
    description: "Says how much sound it was sent.",
    takes: "audio",
    makes: "transcription",
  },
  { slug: "video", name: "Video", description: "Films nothing, at once.", takes: "text", makes: "video" },
]
