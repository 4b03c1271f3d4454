import { isCount, isObject, type Json } from "../../support/text/json.ts"

/** `groundingMetadata` of the URL citations in annotations; undefined if there are none. */
export function toGroundingMetadata(annotations: readonly unknown[], text: string): Json | undefined {
  const citations = annotations
    .filter(isObject)
    .map(({ url_citation: citation }) => citation)
    .filter(isObject)
  if (citations.length === 0) return undefined
  const urls = [...new Set(citations.map(({ url }) => String(url)))]
  const titleOf = (url: string) => {
    const title = citations.find((citation) => citation["url"] === url)?.["title"]
    return typeof title === "string" ? title : url
  }
  return {
    groundingChunks: urls.map((uri) => ({ web: { uri, title: titleOf(uri) } })),
    groundingSupports: citations.flatMap(({ url, start_index: start, end_index: end }) => {
      if (!isCount(start) || !isCount(end) || end <= start) return []
      const segment = { startIndex: bytesIn(text, start), endIndex: bytesIn(text, end), text: text.slice(start, end) }
      return [{ segment, groundingChunkIndices: [urls.indexOf(String(url))] }]
    }),
    webSearchQueries: [],
  }
}

/** The API counts in UTF-8 bytes. */
function bytesIn(text: string, length: number): number {
  return new TextEncoder().encode(text.slice(0, length)).byteLength
}
