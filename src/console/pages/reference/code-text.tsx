/** A description of the document: what stands between backticks is code. */
export function CodeText({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}
