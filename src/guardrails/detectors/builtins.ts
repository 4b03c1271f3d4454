import type { BuiltinSlug } from "../schemas.ts"
import type { Detector } from "./detector.ts"
import { address } from "./address.ts"
import { findInjections } from "./injection/injection.ts"
import { personName } from "./people/people.ts"
import { creditCard, email, iban, ipAddress, phone, ssn } from "./pii.ts"
import { secrets } from "./secrets/secrets.ts"

/** Scans requests only: output of the model cannot inject instructions into it. */
const injection: Detector = {
  name: "regex-prompt-injection",
  engine: "prompt-injection",
  label: "[PROMPT_INJECTION]",
  search: findInjections,
}

const DETECTORS: Readonly<Record<BuiltinSlug, Detector>> = {
  email,
  phone,
  ssn,
  "credit-card": creditCard,
  "ip-address": ipAddress,
  secrets,
  "person-name": personName,
  address,
  "regex-prompt-injection": injection,
  iban,
}

export function detectorOf(slug: BuiltinSlug): Detector {
  return DETECTORS[slug]
}
