import { effect, signal } from "@preact/signals"
import type { Model } from "../../api/types.ts"
import { onUserChange } from "../../state/session.ts"
import { charactersIn, conversationId, loadConversation, saveConversation, startConversation } from "./history.ts"
import { bodyOf, faultsOf, messagesOf, NO_SETTINGS } from "./request.ts"
import type { Replay } from "./replay.ts"
import { newRun, type Price, stream } from "./run.ts"
import type { Column, Run, Settings, Turn } from "./types.ts"

export const MAX_COLUMNS = 4

let lastId = 0
const newId = () => {
  lastId += 1
  return lastId
}

export function newColumn(model: string): Column {
  return { id: newId(), model: signal(model), turns: signal<readonly Turn[]>([]) }
}

export const columns = signal<readonly Column[]>([])
export const settings = signal<Settings>(NO_SETTINGS)
/** The fault of `sim/*` that the next call uses instead of its model. */
export const fault = signal<string | null>(null)
export const draft = signal("")
export const images = signal<readonly string[]>([])
/** Aborts the running stream; null while no stream runs. */
export const running = signal<AbortController | null>(null)

export function setSetting<K extends keyof Settings>(name: K, value: Settings[K]): void {
  settings.value = { ...settings.value, [name]: value }
}

export function addColumn(model: string): void {
  if (columns.value.length < MAX_COLUMNS) columns.value = [...columns.value, newColumn(model)]
}

export function removeColumn(id: number): void {
  columns.value = columns.value.filter((column) => column.id !== id)
}

/** A stream that is stopped stays in its conversation, which the history keeps. */
function stop(): void {
  running.value?.abort()
  running.value = null
}

/** A new conversation with the same models. */
export function startOver(): void {
  stop()
  startConversation()
  columns.value = columns.value.map(({ model }) => newColumn(model.value))
}

onUserChange(() => {
  stop()
  startConversation()
  columns.value = []
  settings.value = NO_SETTINGS
  fault.value = null
  draft.value = ""
  images.value = []
})

export function priceOf(model: Model | undefined): Price | null {
  if (!model) return null
  return { prompt: Number(model.pricing.prompt), completion: Number(model.pricing.completion) }
}

/** The draft was sent before the list of models was loaded. */
let isSendPending = false

export function sendPending(models: ReadonlyMap<string, Model>): void {
  if (isSendPending) void send(models)
  isSendPending = false
}

/** Sends the draft to every column at once. */
export async function send(models: ReadonlyMap<string, Model>): Promise<void> {
  const text = draft.value.trim()
  isSendPending = text !== "" && columns.value.length === 0
  if (text === "" || columns.value.length === 0 || running.value || Object.keys(faultsOf(settings.value)).length > 0)
    return
  const attached = images.value
  draft.value = ""
  images.value = []
  const sent = columns.value
  await run((abort) => Promise.all(sent.map((column) => sendTurn(column, { text, attached, models, abort }))))
}

/** Runs calls of the shown conversation and stores it, also if another one is shown by then. */
async function run(calls: (abort: AbortSignal) => Promise<unknown>): Promise<void> {
  const abort = new AbortController()
  running.value = abort
  const [id, used, chosen] = [conversationId(), columns.value, settings.value]
  try {
    await calls(abort.signal)
  } finally {
    if (running.value === abort) running.value = null
    const isShown = columns.value.some((column) => used.includes(column))
    saveConversation(id, isShown ? columns.value : used, isShown ? settings.value : chosen)
  }
}

type Question = { text: string; attached: readonly string[]; models: ReadonlyMap<string, Model>; abort: AbortSignal }

async function sendTurn(column: Column, { text, attached, models, abort }: Question): Promise<void> {
  const model = column.model.value
  const calledModel = fault.value ?? model
  const price = priceOf(models.get(calledModel))
  const run = signal<Run>(newRun(model, fault.value, charactersIn(column, settings.value, text)))
  column.turns.value = [...column.turns.value, { id: newId(), text, images: attached, run }]
  const body = bodyOf(calledModel, settings.value, messagesOf(settings.value, column.turns.value))
  await stream({ run, body, price, abort })
}

/** Sends the last question again, in every column or in one. */
export async function retry(column: Column, models: ReadonlyMap<string, Model>): Promise<void> {
  const last = column.turns.value.at(-1)
  if (!last || running.value) return
  column.turns.value = column.turns.value.slice(0, -1)
  await run((abort) => sendTurn(column, { text: last.text, attached: last.images, models, abort }))
}

export function open(id: string): void {
  const stored = loadConversation(id)
  if (!stored) return
  stop()
  settings.value = { ...NO_SETTINGS, ...stored.settings }
  columns.value = stored.columns.map(({ model, turns }) => {
    const column = newColumn(model)
    column.turns.value = turns.map(({ text, images: attached, answer }) => ({
      id: newId(),
      text,
      images: attached,
      run: signal<Run>({ ...newRun(model, null, 0), ...answer, status: "done" }),
    }))
    return column
  })
}

/** Shows a logged conversation, so that its last question can be sent again. */
export function openReplay(model: string, { system, turns, prompt }: Replay): void {
  stop()
  startConversation()
  settings.value = { ...NO_SETTINGS, system }
  const column = newColumn(model)
  column.turns.value = turns.map(({ text, reply }) => ({
    id: newId(),
    text,
    images: [],
    run: signal<Run>({ ...newRun(model, null, 0), text: reply, status: "done" }),
  }))
  columns.value = [column]
  draft.value = prompt
}

const MODELS = "console.playground.models"

/** The models of the last visit. */
export function rememberedModels(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(MODELS) ?? "[]")
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string").slice(0, MAX_COLUMNS) : []
  } catch {
    return []
  }
}

effect(() => {
  const models = columns.value.map(({ model }) => model.value)
  if (models.length > 0) localStorage.setItem(MODELS, JSON.stringify(models))
})
