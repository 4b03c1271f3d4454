import { newHexId } from "../../../support/ids.ts"
import { isInteger, isObject, type Json, objectsOf, textIn } from "../../../support/text/json.ts"
import { normalizeItem } from "./normalize.ts"
import {
  completeItem,
  completePart,
  impliedItem,
  newPart,
  type OpenItem,
  type OpenPart,
  PART_EVENTS,
  partTypeOf,
  type PartType,
} from "./open-item.ts"
import { emitItem, grownEvents } from "./to-events.ts"

/**
 * Normalizes the events of the output of a Responses stream: servers that are compatible with the format leave out
 * events and ids that clients need. A conforming event is returned unchanged.
 */
export class ResponseEvents {
  /** By the position in the output. */
  readonly #open = new Map<number, OpenItem>()
  readonly #done = new Map<number, Json>()
  #latest = 0

  take(event: Json): Json[] {
    const { type } = event
    if (type === "response.output_item.added") return this.#add(event)
    if (type === "response.output_item.done") return this.#finish(event)
    if (type === "response.content_part.added" || type === "response.reasoning_summary_part.added") {
      return this.#inItem(event, (item) => this.#addPart(item, event))
    }
    if (type === "response.content_part.done" || type === "response.reasoning_summary_part.done") {
      return this.#inItem(event, (item) => this.#endPart(item, event))
    }
    if (type === "response.function_call_arguments.delta" || type === "response.function_call_arguments.done") {
      return this.#inItem(event, (item) => this.#addArguments(item, event))
    }
    if (type === "response.custom_tool_call_input.delta" || type === "response.custom_tool_call_input.done") {
      return this.#inItem(event, (item) => this.#addInput(item, event))
    }
    const part = partTypeOf(event)
    return part ? this.#inItem(event, (item) => this.#addText(item, part, event)) : [event]
  }

  /** The events that are missing at the end, and the complete output. `reported`: the output of the last event. */
  end(reported: unknown): { events: Json[]; output: unknown } {
    const listed = objectsOf(reported)
    const listedAt = (index: number) => {
      const id = this.#open.get(index)?.item["id"]
      return listed.find((item) => item["id"] === id) ?? listed[index]
    }
    const ended = [...this.#open.values()].flatMap((open) => {
      const item = listedAt(open.index) ?? completeItem(open)
      return this.#finish({ type: "response.output_item.done", output_index: open.index, item })
    })
    const further = listed.slice(this.#done.size).flatMap((item, at) => {
      const output_index = this.#done.size + at
      return this.#finish({ type: "response.output_item.done", output_index, item })
    })
    const items = [...this.#done.keys()].toSorted((one, other) => one - other).map((index) => this.#done.get(index))
    return {
      events: [...ended, ...further],
      output: listed.length > 0 ? listed.map((item, at) => this.#named(item, at)) : items,
    }
  }

  /** An item of the output with the ids that the client knows, if the server leaves them out. */
  #named(item: Json, index: number): Json {
    const done = this.#done.get(index)
    const { id, call_id: callId } = item
    return withFields(item, idsOf({ id: id ?? done?.["id"], call_id: callId ?? done?.["call_id"] }))
  }

  #indexOf({ output_index: index, item_id: id }: Json): number {
    if (isInteger(index)) return index
    const found = [...this.#open.values()].find(({ item }) => item["id"] === id)
    return found?.index ?? this.#latest
  }

  #add(event: Json): Json[] {
    const index = isInteger(event["output_index"]) ? event["output_index"] : this.#open.size + this.#done.size
    if (this.#open.has(index) || this.#done.has(index)) return []
    const reported = isObject(event["item"]) ? event["item"] : {}
    const item = withIds(reported)
    this.#open.set(index, { item, index, parts: [], arguments: [], hasArguments: false })
    this.#latest = index
    return [withFields(event, { output_index: index, item })]
  }

  /** Passes the event of an item with its id. An item that was not announced starts. */
  #inItem(event: Json, take: (item: OpenItem) => Json[]): Json[] {
    const index = this.#indexOf(event)
    const item = this.#open.get(index) === undefined ? impliedItem(event, idOf(event)) : undefined
    if (this.#done.has(index)) return []
    const begun = item ? this.#add({ type: "response.output_item.added", output_index: index, item }) : []
    const open = this.#open.get(index)
    return open ? [...begun, ...take(open)] : []
  }

  #addPart(open: OpenItem, event: Json): Json[] {
    const part = isObject(event["part"]) ? event["part"] : {}
    const type = textIn(part, "type") as PartType
    if (!(type in PART_EVENTS)) return [withPlace(open, event)]
    const index = partIndexOf(type, event)
    if (open.parts.some((one) => one.type === type && one.index === index)) return []
    open.parts.push({ type, index, text: [], isTextDone: false, isDone: false })
    return [withPlace(open, withFields(event, { [PART_EVENTS[type].index]: index }))]
  }

  #addText(open: OpenItem, type: PartType, event: Json): Json[] {
    const { part, begun } = this.#partOf(open, type, event)
    const placed = withPlace(open, withFields(event, { [PART_EVENTS[type].index]: part.index }))
    if (!textIn(event, "type").endsWith(".done")) {
      if (typeof event["delta"] === "string") part.text.push(event["delta"])
      return [...begun, placed]
    }
    const missing = missingText(open, part, textIn(event, PART_EVENTS[type].field))
    part.isTextDone = true
    return [...begun, ...missing, placed]
  }

  #partOf(open: OpenItem, type: PartType, event: Json): { part: OpenPart; begun: Json[] } {
    const index = partIndexOf(type, event)
    const find = () => open.parts.find((one) => one.type === type && one.index === index)
    const known = find()
    if (known) return { part: known, begun: [] }
    const names = PART_EVENTS[type]
    const added = { type: `response.${names.part}.added`, [names.index]: index, part: newPart(type) }
    const begun = this.#addPart(open, added)
    return { part: find() ?? { type, index, text: [], isTextDone: false, isDone: false }, begun }
  }

  #endPart(open: OpenItem, event: Json): Json[] {
    const part = isObject(event["part"]) ? event["part"] : {}
    const type = textIn(part, "type") as PartType
    if (!(type in PART_EVENTS)) return [withPlace(open, event)]
    const { part: known, begun } = this.#partOf(open, type, event)
    const placed = withPlace(open, withFields(event, { [PART_EVENTS[type].index]: known.index }))
    const missing = missingText(open, known, textIn(part, PART_EVENTS[type].field))
    const textDone = endText(open, known)
    known.isDone = true
    return [...begun, ...missing, ...textDone, placed]
  }

  #addArguments(open: OpenItem, event: Json): Json[] {
    const placed = withPlace(open, event)
    if (event["type"] === "response.function_call_arguments.delta") {
      open.arguments.push(textIn(event, "delta"))
      return [placed]
    }
    open.hasArguments = true
    return [...missingArguments(open, textIn(event, "arguments")), placed]
  }

  #addInput(open: OpenItem, event: Json): Json[] {
    open.arguments.push(textIn(event, "delta"))
    return [withPlace(open, event)]
  }

  #finish(event: Json): Json[] {
    const index = this.#indexOf(event)
    if (this.#done.has(index)) return []
    const reported = isObject(event["item"]) ? event["item"] : {}
    const open = this.#open.get(index)
    this.#open.delete(index)
    const started = open?.item ?? {}
    const { id, call_id: callId } = withIds({ ...reported, ...idsOf(started) })
    const item = withFields(normalizeItem(reported), { id, ...(callId !== undefined && { call_id: callId }) })
    this.#done.set(index, item)
    if (!open) return emitItem(item, index)
    const isNew = open.parts.length === 0 && open.arguments.length === 0 && !open.hasArguments
    const rest = isNew ? grownEvents(item, index) : endParts(open, item)
    return [...rest, withFields(event, { output_index: index, item })]
  }
}

/** The events that end the parts and the arguments of an item. */
function endParts(open: OpenItem, item: Json): Json[] {
  const texts = open.parts.flatMap((part) => {
    if (part.isDone) return []
    const { part: name, index } = PART_EVENTS[part.type]
    const ended = { type: `response.${name}.done`, [index]: part.index, part: completePart(part) }
    return [...endText(open, part), withPlace(open, ended)]
  })
  if (item["type"] !== "function_call" || open.hasArguments) return texts
  const encoded = textIn(item, "arguments")
  const done = { type: "response.function_call_arguments.done", name: item["name"], arguments: encoded }
  return [...texts, ...missingArguments(open, encoded), withPlace(open, done)]
}

function endText(open: OpenItem, part: OpenPart): Json[] {
  if (part.isTextDone) return []
  part.isTextDone = true
  const { text, index, field } = PART_EVENTS[part.type]
  const logprobs = part.type === "output_text" ? { logprobs: [] } : {}
  const ended = { type: `response.${text}.done`, [index]: part.index, [field]: part.text.join(""), ...logprobs }
  return [withPlace(open, ended)]
}

/** The text of a part as its only delta, if the server sends it only at the end. */
function missingText(open: OpenItem, part: OpenPart, text: string): Json[] {
  if (part.text.length > 0 || text === "" || part.isTextDone) return []
  part.text.push(text)
  const { text: name, index } = PART_EVENTS[part.type]
  const logprobs = part.type === "output_text" ? { logprobs: [] } : {}
  return [withPlace(open, { type: `response.${name}.delta`, [index]: part.index, delta: text, ...logprobs })]
}

function missingArguments(open: OpenItem, encoded: string): Json[] {
  if (open.arguments.length > 0 || encoded === "") return []
  open.arguments.push(encoded)
  return [withPlace(open, { type: "response.function_call_arguments.delta", delta: encoded })]
}

function partIndexOf(type: PartType, event: Json): number {
  const index = event[PART_EVENTS[type].index]
  return isInteger(index) ? index : 0
}

/** The event with the id and the position of its item. */
function withPlace({ item, index }: OpenItem, event: Json): Json {
  return withFields(event, { item_id: item["id"], output_index: index })
}

/** The event with these fields; the same object if it has them. */
function withFields(event: Json, fields: Json): Json {
  return Object.entries(fields).every(([key, value]) => event[key] === value) ? event : { ...event, ...fields }
}

function idOf({ item_id: id }: Json): string {
  return typeof id === "string" && id !== "" ? id : newId("item")
}

function idsOf({ id, call_id: callId }: Json): Json {
  return { ...(id !== undefined && { id }), ...(callId !== undefined && { call_id: callId }) }
}

const PREFIXES: Readonly<Record<string, string>> = { message: "msg", reasoning: "rs", function_call: "fc" }

/** The item with the ids that clients need. */
function withIds(item: Json): Json {
  const { type, id, call_id: callId } = item
  const isCall = type === "function_call" || type === "custom_tool_call"
  const isNamed = typeof id === "string" && id !== ""
  const isCallNamed = !isCall || (typeof callId === "string" && callId !== "")
  if (isNamed && isCallNamed) return item
  const named = isNamed ? id : newId(PREFIXES[String(type)] ?? "item")
  return { ...item, id: named, ...(!isCallNamed && { call_id: named }) }
}

function newId(prefix: string): string {
  return `${prefix}_${newHexId()}`
}
