import { readAs, UNREAD } from "../content/fold.ts"
import { isOfStep, type Program, takesRunes } from "../content/program.ts"

const ASCII = 128
const MAX_KEPT = 4_096

/** Characters that no step of a program takes: behind one of them no match goes on that began before it. */
export class Stops {
  readonly #steps: Program["steps"]
  readonly #ascii: Uint8Array
  readonly #others = new Map<number, boolean>()

  constructor(program: Program) {
    this.#steps = program.steps.filter(takesRunes)
    this.#ascii = Uint8Array.from({ length: ASCII }, (_, rune) => (this.#isStop(rune) ? 1 : 0))
  }

  /** Where the last stop before a place ends, or else `least`. */
  before(text: string, place: number, least: number): number {
    for (let at = place; at > least; at--) if (this.#isStopAt(text, at - 1)) return at
    return least
  }

  /** Where the first stop behind a place ends, or else the text. */
  after(text: string, place: number): number {
    for (let at = place; at < text.length; at++) if (this.#isStopAt(text, at)) return at + 1
    return text.length
  }

  #isStopAt(text: string, at: number): boolean {
    const unit = text.charCodeAt(at)
    if (unit < ASCII) return this.#ascii[unit] === 1
    // Characters of two units are taken for none: they are read whole, or not at all.
    if ((unit & 0xf800) === 0xd800) return false
    const read = readAs(unit)
    if (read === UNREAD) return false
    if (read < ASCII) return this.#ascii[read] === 1
    let is = this.#others.get(read)
    if (is === undefined) {
      is = this.#isStop(read)
      if (this.#others.size >= MAX_KEPT) this.#others.clear()
      this.#others.set(read, is)
    }
    return is
  }

  #isStop(rune: number): boolean {
    return !this.#steps.some((step) => isOfStep(step, rune))
  }
}

const known = new WeakMap<Program, Stops>()

export function stopsOf(program: Program): Stops {
  let stops = known.get(program)
  if (!stops) {
    stops = new Stops(program)
    known.set(program, stops)
  }
  return stops
}
