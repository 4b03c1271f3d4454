import { asGatewayError, type GatewayError } from "../../errors/errors.ts"
import { NAMES, type Visit } from "../content/texts/request-texts.ts"
import type { CheckedText } from "./formats.ts"

/** Collects the texts of a streamed response, for checks that judge them when the response is complete. */
export class StreamCheck {
  /** Whether the client must receive nothing before the checks passed the response. */
  readonly holdsResponse: boolean
  readonly #judge: (texts: readonly CheckedText[]) => Promise<unknown>
  readonly #texts = new Map<string, string>()

  constructor(holdsResponse: boolean, judge: (texts: readonly CheckedText[]) => Promise<unknown>) {
    this.holdsResponse = holdsResponse
    this.#judge = judge
  }

  /** Adds a piece of the text with this key. */
  readonly add = (key: string, piece: string): void => {
    this.#texts.set(key, (this.#texts.get(key) ?? "") + piece)
  }

  /** Adds the texts that `visit` returns: those of fields that are complete in one chunk. */
  collecting(visit: Visit): Visit {
    return (text, role, form) => {
      const passed = visit(text, role, form)
      if (role !== NAMES) this.add("", `${passed}\n`)
      return passed
    }
  }

  /** The error of a check that blocks the response; undefined if all of them passed it. */
  async run(): Promise<GatewayError | undefined> {
    const texts = [...this.#texts.values()].filter((text) => text.trim() !== "")
    try {
      await this.#judge(texts.map((text) => ({ role: "assistant", text })))
      return undefined
    } catch (thrown) {
      return asGatewayError(thrown)
    }
  }
}
