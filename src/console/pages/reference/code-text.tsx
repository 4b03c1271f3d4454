/** A description from the API document; text in backticks is code. */
export function CodeText({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}
