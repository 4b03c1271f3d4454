/** The terms of a search, in lower case. */
export function termsOf(search: string): string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean)
}

/** Whether every term of the search occurs in the text, in any case and order. */
export function matches(search: string, text: string): boolean {
  const content = text.toLowerCase()
  return termsOf(search).every((term) => content.includes(term))
}
