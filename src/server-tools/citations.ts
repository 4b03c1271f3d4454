import type { Citation } from "./tool.ts"

/** Sources as annotations of chat responses; their position in the text is unknown. */
export function toAnnotations(citations: readonly Citation[]): Record<string, unknown>[] {
  return citations.map(({ url, title, content }) => ({
    type: "url_citation",
    url_citation: { url, title, ...(content !== undefined && { content }), start_index: 0, end_index: 0 },
  }))
}
