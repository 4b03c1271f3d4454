import { useState } from "preact/hooks"
import { CodeText } from "./code-text.tsx"
import { type Document, limitsOf, nameOf, resolve, type Schema, typeOf } from "./document.ts"

type Props = { schema: Schema; document: Document; depth?: number }

/** Nested fields: of an object, of list elements, or of alternatives. */
function fieldsOf(schema: Schema, document: Document): { fields: [string, Schema][]; required: readonly string[] } {
  const resolved = resolve(schema, document)
  if (resolved.items) return fieldsOf(resolved.items, document)
  const parts = [...(resolved.allOf ?? []), ...(resolved.oneOf ?? resolved.anyOf ?? [])].map((part) =>
    resolve(part, document),
  )
  const all = [resolved, ...parts]
  const fields = new Map(all.flatMap(({ properties }) => Object.entries(properties ?? {})))
  return { fields: [...fields], required: resolved.required ?? [] }
}

/** Fields of an object, each with its type, limits and description. Nested objects open on demand. */
export function SchemaView({ schema, document, depth = 0 }: Props) {
  const { fields, required } = fieldsOf(schema, document)
  if (fields.length === 0) return depth === 0 ? <p class="quiet mono small">{typeOf(schema)}</p> : null
  return (
    <ul class="schema">
      {fields.map(([name, field]) => (
        <Field
          key={name}
          name={name}
          schema={field}
          document={document}
          isRequired={required.includes(name)}
          depth={depth}
        />
      ))}
    </ul>
  )
}

function Field({
  name,
  schema,
  document,
  isRequired,
  depth,
}: {
  name: string
  schema: Schema
  document: Document
  isRequired: boolean
  depth: number
}) {
  const [isOpen, setOpen] = useState(false)
  const resolved = resolve(schema, document)
  const canOpen = depth < 8 && fieldsOf(schema, document).fields.length > 0
  const limits = limitsOf(resolved)
  return (
    <li>
      <div class="schema-line">
        <code class="schema-name">{name}</code>
        <span class="mono small quiet schema-type">{nameOf(schema) ?? typeOf(resolved)}</span>
        {isRequired && <span class="tag">required</span>}
        {resolved.deprecated && <span class="tag">deprecated</span>}
        {canOpen && (
          <button type="button" class="text-button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide fields" : "Fields"}
          </button>
        )}
      </div>
      {(resolved.description ?? limits) && (
        <p class="quiet small">
          <CodeText text={resolved.description ?? ""} /> {limits}
        </p>
      )}
      {isOpen && <SchemaView schema={schema} document={document} depth={depth + 1} />}
    </li>
  )
}
