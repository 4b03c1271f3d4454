/** Video jobs. Nothing is stored: the id of a job encodes its request. */

const ID = /^video_[0-9a-f-]{36}_(\d+)$/
const DEFAULT_SECONDS = 4

type VideoJob = Record<string, unknown> & { id: string }

export function newVideoJob(request: Record<string, unknown>): VideoJob {
  const duration = Number(request["duration"] ?? request["seconds"])
  const seconds = Number.isSafeInteger(duration) && duration > 0 ? duration : DEFAULT_SECONDS
  return { id: `video_${crypto.randomUUID()}_${seconds}`, ...common(seconds), status: "queued", progress: 0 }
}

/** The job of an id, which is complete at the first poll; undefined for an invalid id. */
export function findVideoJob(id: string): VideoJob | undefined {
  const seconds = ID.exec(id)?.[1]
  return seconds === undefined ? undefined : { id, ...common(Number(seconds)), status: "completed", progress: 100 }
}

function common(seconds: number) {
  return { object: "video", model: "video", seconds: String(seconds) }
}

/** The box that every MP4 file begins with, without any video. */
export const EMPTY_MP4 = Uint8Array.of(0, 0, 0, 24, ...toBytes("ftypisom"), 0, 0, 2, 0, ...toBytes("isommp41"))

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
