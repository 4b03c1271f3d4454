import { describe, expect, test } from "vitest"
import { readOptions } from "../../src/dev/options.ts"

describe("options of npm start", () => {
  test("--port is used before PORT, and PORT before 8787", () => {
    expect(readOptions(["--port", "9000"], { PORT: "9100" }).port).toBe(9000)
    expect(readOptions([], { PORT: "9100" }).port).toBe(9100)
    expect(readOptions([], { PORT: "" }).port).toBe(8787)
    expect(readOptions([], {}).port).toBe(8787)
  })
})
