import { RE2JS } from "re2js"
import type { FilterRule, FilterRules } from "./schemas.ts"

/** Fields of a call by their names in rules. Null for a field that the call does not have. */
export type Facts = Record<FilterRule["field"], string | number | null>

/** Whether the rules accept a call. Pure. */
export function passes(rules: FilterRules | null, facts: Facts): boolean {
  if (rules === null || !rules.enabled || rules.groups.length === 0) return true
  return rules.groups.some((group) =>
    group.logic === "or"
      ? group.rules.some((rule) => meets(rule, facts))
      : group.rules.every((rule) => meets(rule, facts)),
  )
}

function meets({ field, operator, value = "" }: FilterRule, facts: Facts): boolean {
  const fact = facts[field]
  const text = fact === null ? "" : String(fact)
  switch (operator) {
    case "exists":
      return text !== ""
    case "not_exists":
      return text === ""
    case "equals":
      return fact !== null && isEqual(fact, value)
    case "not_equals":
      return fact === null || !isEqual(fact, value)
    case "contains":
      return fact !== null && text.includes(String(value))
    case "not_contains":
      return fact === null || !text.includes(String(value))
    case "starts_with":
      return fact !== null && text.startsWith(String(value))
    case "ends_with":
      return fact !== null && text.endsWith(String(value))
    case "regex":
      return fact !== null && programOf(String(value)).test(text)
    default:
      return fact !== null && compares(operator, Number(fact), Number(value))
  }
}

/** Numbers are compared as numbers, however they are written. */
function isEqual(fact: string | number, value: string | number): boolean {
  return typeof fact === "number" ? fact === Number(value) : fact === String(value)
}

function compares(operator: "gt" | "lt" | "gte" | "lte", fact: number, value: number): boolean {
  if (operator === "gt") return fact > value
  if (operator === "lt") return fact < value
  return operator === "gte" ? fact >= value : fact <= value
}

const programs = new Map<string, RE2JS>()
const MAX_PROGRAMS = 500

/** RE2 matches in linear time: the pattern is a customer's. */
function programOf(pattern: string): RE2JS {
  const cached = programs.get(pattern)
  if (cached) return cached
  if (programs.size >= MAX_PROGRAMS) programs.clear()
  const program = RE2JS.compile(pattern)
  programs.set(pattern, program)
  return program
}
