import * as fc from "fast-check"
import { expect, test } from "vitest"
import { encodedVector } from "../../src/inference/embeddings/encoding.ts"

test("a vector of float32 values is the same after base64", () => {
  const values = fc.array(fc.float({ noNaN: true }), { maxLength: 40 })
  fc.assert(
    fc.property(values, (vector) => {
      expect(encodedVector(encodedVector(vector, "base64"), "float")).toEqual(vector)
    }),
  )
})

test.each([["not base64!"], ["AAA="], [[1, "x"]], [null]])("%j is no vector and stays unchanged", (embedding) => {
  expect([encodedVector(embedding, "float"), encodedVector(embedding, "base64")]).toEqual([embedding, embedding])
})
