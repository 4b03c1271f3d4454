import { describe, expect, test } from "vitest"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import type { BuiltinSlug } from "../../src/guardrails/schemas.ts"
import { seeded } from "../support/random-patterns.ts"
import { sampled } from "../support/runs.ts"
import { detectorLines, LINE_SETS, scoreLines } from "./labelled/detector-lines.ts"
import { findingsOf, redactionRules } from "./labelled/measure.ts"
import { PERSONAL_DATA } from "./labelled/personal-data.ts"

const SLUGS = ["secrets", ...PERSONAL_DATA] as const

/** Email addresses with blanks, "ann [at] example", would hold back every word of a stream, so they are not found. */
const LEAST: Readonly<Partial<Record<BuiltinSlug, { recall: number; precision: number }>>> = {
  secrets: { recall: 0.97, precision: 0.98 },
  email: { recall: 0.92, precision: 0.97 },
}

const lines = LINE_SETS.flatMap(detectorLines)

function redacted(slug: BuiltinSlug, pieces: readonly string[]): string {
  const filter = new TextFilter(redactionRules(slug), plainCodec(), () => {})
  return pieces.map((piece, at) => filter.push(piece, at === pieces.length - 1)).join("")
}

describe.each(SLUGS)(`%s in ${lines.length} lines of logs, code, configuration, letters and chats`, (slug) => {
  const { recall: leastRecall, precision: leastPrecision } = LEAST[slug] ?? { recall: 0.95, precision: 0.97 }

  test(`has a recall of ${leastRecall} and a precision of ${leastPrecision}`, () => {
    const { recall, precision, alarms, report, mistakes } = scoreLines(slug, LINE_SETS)
    console.info(report)
    expect(recall, mistakes.join("\n")).toBeGreaterThanOrEqual(leastRecall)
    expect(precision, mistakes.join("\n")).toBeGreaterThanOrEqual(leastPrecision)
    expect(alarms, mistakes.join("\n")).toBeLessThan(0.01)
  })

  test("is found in a stream as in a complete text", () => {
    const random = seeded(slug.length)
    for (const { text } of sampled(lines, 3, slug.length)) {
      const cut = Math.floor(random() * text.length)
      expect(redacted(slug, [text.slice(0, cut), text.slice(cut), ""]), text).toBe(redacted(slug, [text]))
    }
  })
})

test("500 of the lines are ordinary", () => {
  expect(lines.length).toBeGreaterThanOrEqual(1_800)
  expect(lines.filter(({ labels }) => labels.length === 0).length).toBeGreaterThanOrEqual(500)
})

const found = (slug: BuiltinSlug, text: string) =>
  findingsOf(slug, text).map(({ start, end }) => text.slice(start, end))

test.each<[BuiltinSlug, string, string]>([
  ["secrets", "mysqldump -uroot -pz3l5yqUdq5Ro shop orders", "z3l5yqUdq5Ro"],
  ["secrets", "net user deploy Winter2026!x /add", "Winter2026!x"],
  ["secrets", "CREATE USER 'api' IDENTIFIED BY 'FMl1SpLlEinH#1';", "FMl1SpLlEinH#1"],
  ["secrets", "spring.datasource.password=PtfexqZcsTydEvx", "PtfexqZcsTydEvx"],
  ["secrets", "Das Passwort für den Testserver lautet Kirsche-77-Regen.", "Kirsche-77-Regen"],
  ["secrets", "the login is admin / Koala-Trip-88! for the shop", "Koala-Trip-88!"],
  ["secrets", 'val key = System.getenv("WEATHER_KEY") ?: "q7Hm2LxP9vRt4KsW8nZc"', "q7Hm2LxP9vRt4KsW8nZc"],
  ["secrets", 'jwt.sign(payload, "q7Hm2LxP9vRt4KsW8nZc", {})', "q7Hm2LxP9vRt4KsW8nZc"],
  ["secrets", '.basicAuthentication("elastic", "Yd0-ptQ2mm8")', "Yd0-ptQ2mm8"],
  ["secrets", "Пароль до сервера Kalyna!2209 — змініть його", "Kalyna!2209"],
  ["secrets", "le mot de passe est « Nuage!Bleu77 »", "Nuage!Bleu77"],
  ["secrets", "API anahtarı q7Hm2LxP9vRt4KsW8nZc geçersiz", "q7Hm2LxP9vRt4KsW8nZc"],
  ["secrets", "REDIS_REST_TOKEN=q7Hm2LxP9vRt4KsW8nZc", "q7Hm2LxP9vRt4KsW8nZc"],
  [
    "secrets",
    `the value ${btoa(["gh", "p_", "a1B2".repeat(9)].join(""))}`,
    btoa(["gh", "p_", "a1B2".repeat(9)].join("")),
  ],
  ["secrets", `seed phrase: ${"ripple oak sun ".repeat(4).trim()}`, "ripple oak sun ".repeat(4).trim()],
  ["person-name", "nazywa się Jan Kowalski", "Jan Kowalski"],
  ["person-name", 'To: "Hidalgo, Esteban" <e.h@example.com>', "Hidalgo, Esteban"],
  ["person-name", "მე მქვია ნინო ბერიძე", "ნინო ბერიძე"],
  ["address", "3915 W CAMELBACK RD STE 200 PHOENIX AZ 85019", "3915 W CAMELBACK RD STE 200 PHOENIX AZ 85019"],
  ["phone", "work +1 (312) 555-0100 ext. 224", "+1 (312) 555-0100 ext. 224"],
  ["ip-address", "allow 198.51.100.0/24 here", "198.51.100.0/24"],
  ["ip-address", "get http://10.0.0.1/99", "10.0.0.1"],
  ["person-name", '{"last_name":"Lindqvist"}', "Lindqvist"],
  ["person-name", "Geachte mevrouw de Vries, hierbij", "mevrouw de Vries"],
  ["person-name", "Подписал Н. В. Соколов вчера", "Н. В. Соколов"],
  ["person-name", "Врач: Иванов И. И., каб. 4", "Иванов И. И."],
  ["person-name", "Kunde: Schröder, Heike", "Schröder, Heike"],
  ["address", "주소: 서울특별시 강남구 테헤란로 123", "서울특별시 강남구 테헤란로 123"],
])("%s: finds the whole of a value in %s", (slug, text, value) => {
  expect(found(slug, text)).toContain(value)
})

test.each<[BuiltinSlug, string]>([
  ["secrets", `${["pk", "_live_", "a1B2".repeat(6)].join("")} is the publishable key`],
  ["secrets", "mysql --protocol=tcp --port=3307 -h db.internal"],
  ["secrets", "docker run -p 8080:80 nginx"],
  ["secrets", "-----BEGIN SSH SIGNATURE-----\nI8Q6js8evbYETb4OMF6c/Qn+Csza62R+EmZ9F5ZYgGe+NtGAMv1uptnK"],
  ["secrets", "password: !vault | and password=${DB_PASS:?missing}"],
  ["secrets", "AKIAIOSFODNN7EXAMPLE is the documented key"],
  ["secrets", 'password: "must be 8 characters"'],
  ["secrets", "the recovery phrase has twelve words that you must write down and never share with anyone"],
  ["secrets", "const password = getUserPassword, pwd: hashedPassWd"],
  ["ip-address", "Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36"],
  ["ip-address", "fingerprint C7:5A:FB:17:71:02:96:33:0C:DA:BA:A5:AC:F7:B3:1E:F3:5E:2C:95"],
  ["ip-address", "EUI-64 02:1b:63:ff:fe:84:45:e6"],
  ["phone", "Bestellnummer 0171-2345678"],
  ["phone", "NHS 943 476 5919"],
  ["person-name", "Herr der Ringe, U. S. Government"],
  ["address", "東京都の人口は1400万人です"],
])("%s: finds nothing in %s", (slug, text) => {
  expect(found(slug, text)).toEqual([])
})

test.each(["secrets", "email"] as const)("%s: ordinary words of a stream are sent at once", (slug) => {
  const filter = new TextFilter(redactionRules(slug), plainCodec(), () => {})
  expect(filter.push("Hello there, what is the ", false)).toBe("Hello there, what is the ")
})
