import { matches } from "../../format/search.ts"
import "./reference.css"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { BASE } from "../../api/client.ts"
import { Page } from "../../shell/page.tsx"
import type { PageProps } from "../../state/paths.ts"
import { query, setQuery } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { Code } from "../../ui/text/code.tsx"
import { Search } from "../../ui/field.tsx"
import { BASE_URL, FirstCall } from "../../ui/first-call.tsx"
import { Empty, Loaded } from "../../ui/states.tsx"
import {
  type Document,
  entriesOf,
  groupsOf,
  type Entry,
  type Parameter,
  typeOf,
  useDocument,
  limitsOf,
  bodyExample,
} from "./document.ts"
import { CodeText } from "./code-text.tsx"
import { SchemaView } from "./schema-view.tsx"
import { TryIt } from "./try-it.tsx"

export default function ReferencePage({ params }: PageProps) {
  const document = useDocument()
  return (
    <Page
      title="API reference"
      flush
      controls={
        <a href={`${BASE}/openapi.json`} target="_blank" rel="noopener">
          OpenAPI document
        </a>
      }
    >
      <Loaded query={document} lines={12}>
        {(data) => <Reference document={data} id={params["operation"]} />}
      </Loaded>
    </Page>
  )
}

function Reference({ document, id }: { document: Document; id: string | undefined }) {
  const entries = useMemo(() => entriesOf(document), [document])
  const text = query.value.get("q") ?? ""
  const found = useMemo(() => search(entries, text), [entries, text])
  const entry = entries.find((each) => each.id === id)
  return (
    <div class={`reference ${entry ? "with-operation" : ""}`}>
      <Contents entries={found} current={entry?.id} text={text} />
      <div class="reference-body" tabIndex={0} role="region" aria-label="Operation">
        {entry ? <OperationView key={entry.id} entry={entry} document={document} /> : <Start document={document} />}
      </div>
    </div>
  )
}

function search(entries: readonly Entry[], text: string): Entry[] {
  return entries.filter(({ method, path, operation: { summary = "", description = "" }, id }) =>
    matches(text, `${method} ${path} ${summary} ${description} ${id}`),
  )
}

function Contents({
  entries,
  current,
  text,
}: {
  entries: readonly Entry[]
  current: string | undefined
  text: string
}) {
  const groups = groupsOf(entries)
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest" })
  }, [current])
  const suffix = text === "" ? "" : `?q=${encodeURIComponent(text)}`
  return (
    <nav class="contents" aria-label="Operations" ref={list}>
      <div class="contents-search">
        <Search label="Search operations" value={text} onChange={(q) => setQuery({ q })} />
      </div>
      {groups.map(([tag, members]) => (
        <section key={tag}>
          <h2>{tag}</h2>
          <ul>
            {members.map(({ id, method, path }) => (
              <li key={id}>
                <a href={`/docs/${id}${suffix}`} aria-current={id === current ? "page" : undefined}>
                  <Method name={method} />
                  <span class="truncate mono" title={path}>
                    {path}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {entries.length === 0 && <Empty title={`Nothing matches “${text}”`} />}
    </nav>
  )
}

function Method({ name }: { name: string }) {
  return <span class={`method ${name}`}>{name === "delete" ? "DEL" : name.toUpperCase()}</span>
}

function Start({ document }: { document: Document }) {
  return (
    <div class="stack reference-start">
      <h2>Base URL</h2>
      <Code text={BASE_URL} label="Base URL" />
      <h2>Authentication</h2>
      <p>
        Send a key in the <code>Authorization</code> header.{" "}
        {may("keys:write") && <a href="/keys?new=1">Create a key</a>}
      </p>
      <FirstCall />
      <h2>Errors</h2>
      <p>
        Every error has the same shape: <code>error.code</code> is the HTTP status, <code>error.message</code> says what
        to change. Quote the header <code>x-request-id</code> in a report.
      </p>
      <p class="quiet">
        {Object.keys(document.paths).length} paths, version {document.info.version}. Choose an operation in the list, or
        press <kbd>/</kbd> to search.
      </p>
    </div>
  )
}

function OperationView({ entry, document }: { entry: Entry; document: Document }) {
  const { method, path, operation } = entry
  const [isTrying, setTrying] = useState(false)
  const body = operation.requestBody?.content["application/json"]?.schema
  return (
    <article class="stack wide">
      <header class="stack tight">
        <a class="reference-back only-narrow" href="/docs">
          All operations
        </a>
        <h2 class="operation-title">{operation.summary ?? entry.id}</h2>
        <p class="operation-path">
          <Method name={method} /> <code>{path}</code>
        </p>
        {operation.description && (
          <p class="reference-text">
            <CodeText text={operation.description} />
          </p>
        )}
      </header>
      <Parameters parameters={operation.parameters ?? []} />
      {body && (
        <section class="stack tight">
          <h3>Request body</h3>
          <SchemaView schema={body} document={document} />
        </section>
      )}
      <section class="stack tight">
        <h3>Example</h3>
        <Code text={curlOf(entry, document)} label="The call with curl" />
        <details class="fold" open={isTrying} onToggle={(event) => setTrying(event.currentTarget.open)}>
          <summary>Try it with your session</summary>
          <TryIt entry={entry} document={document} />
        </details>
      </section>
      <Responses entry={entry} document={document} />
    </article>
  )
}

function curlOf({ method, path, operation }: Entry, document: Document): string {
  const example = bodyExample(operation, document)
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${location.origin}${BASE}${path}`]
  if (operation.security === undefined || operation.security.length > 0)
    lines.push(`-H "Authorization: Bearer $GATEWAY_API_KEY"`)
  if (example !== undefined) {
    const json = JSON.stringify(example, null, 2).replaceAll("'", String.raw`'\''`)
    lines.push(`-H "Content-Type: application/json"`, `-d '${json}'`)
  }
  return lines.join(" \\\n  ")
}

function Parameters({ parameters }: { parameters: readonly Parameter[] }) {
  if (parameters.length === 0) return null
  return (
    <section class="stack tight">
      <h3>Parameters</h3>
      <ul class="schema">
        {parameters.map(({ name, in: location, required, description, schema }) => (
          <li key={`${location} ${name}`}>
            <div class="schema-line">
              <code class="schema-name">{name}</code>
              <span class="mono small quiet schema-type">{schema ? typeOf(schema) : "string"}</span>
              <span class="tag">{location}</span>
              {required && <span class="tag">required</span>}
            </div>
            <p class="quiet small">
              <CodeText text={description ?? schema?.description ?? ""} /> {schema ? limitsOf(schema) : ""}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Responses({ entry, document }: { entry: Entry; document: Document }) {
  const responses = Object.entries(entry.operation.responses)
  const good = responses.filter(([status]) => status.startsWith("2"))
  const bad = responses.filter(([status]) => !status.startsWith("2"))
  return (
    <section class="stack tight">
      <h3>Responses</h3>
      {good.map(([status, { description, content }]) => (
        <details key={status} class="fold" open>
          <summary>
            {status} <span class="quiet">{description}</span>
          </summary>
          {Object.entries(content ?? {}).map(([type, { schema }]) => (
            <div key={type} class="stack tight">
              <span class="mono small quiet">{type}</span>
              {schema && <SchemaView schema={schema} document={document} />}
            </div>
          ))}
        </details>
      ))}
      {bad.length > 0 && (
        <p class="quiet">Errors: {bad.map(([status, { description }]) => `${status} ${description}`).join(", ")}.</p>
      )}
    </section>
  )
}
