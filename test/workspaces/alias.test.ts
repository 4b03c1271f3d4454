import * as fc from "fast-check"
import { expect, test } from "vitest"
import { type AliasArm, chooseArm, findAlias, findNamedAlias } from "../../src/workspaces/alias.ts"

const facts = { region: "global", keyHash: "a", promptTokens: 100 }
const arm = (model: string, more: Partial<AliasArm> = {}): AliasArm => ({ model, weight: 1, ...more })

test("an arm is chosen in proportion to its weight", () => {
  const alias = { arms: [arm("x/a", { weight: 3 }), arm("x/b")] }
  const chosen = Array.from({ length: 1_000 }, (_, at) => chooseArm(alias, facts, (at + 1) / 1_000)?.model)
  expect(chosen.filter((model) => model === "x/a").length).toBe(750)
})

test("conditions on region, key and prompt length exclude an arm", () => {
  for (const more of [
    { regions: ["europe"] },
    { key_hashes: ["b"] },
    { min_prompt_tokens: 101 },
    { max_prompt_tokens: 99 },
  ]) {
    expect(chooseArm({ arms: [arm("x/a", more)] }, facts, 0.5)).toBeUndefined()
    expect(chooseArm({ arms: [arm("x/a", more), arm("x/b")] }, facts, 0.001)?.model).toBe("x/b")
  }
  const open = { regions: ["global"], key_hashes: ["a"], min_prompt_tokens: 100, max_prompt_tokens: 100 }
  expect(chooseArm({ arms: [arm("x/a", open)] }, facts, 1)?.model).toBe("x/a")
})

test("an open arm is chosen for any weights", () => {
  const weights = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(weights, fc.double({ min: 0.000_001, max: 1, noNaN: true }), (all, chance) => {
      const arms = all.map((weight, at) => arm(`x/${at}`, { weight }))
      expect(arms).toContain(chooseArm({ arms }, facts, chance))
    }),
  )
})

test("names of object members are not aliases", () => {
  for (const name of ["constructor", "__proto__", "toString"]) expect(findAlias({}, name)).toBeUndefined()
})

test("variants and a preset may follow the name of an alias, and the longest alias counts", () => {
  const aliases = { "team/fast": { arms: [arm("x/a")] }, "team/fast:eu": { arms: [arm("x/b")] } }
  const found = (name: string) => {
    const named = findNamedAlias(aliases, name)
    return named && [named.name, named.suffix, named.alias.arms[0]?.model]
  }
  expect(found("team/fast")).toEqual(["team/fast", "", "x/a"])
  expect(found("team/fast:nitro")).toEqual(["team/fast", ":nitro", "x/a"])
  expect(found("team/fast:online:nitro@preset/a:b")).toEqual(["team/fast", ":online:nitro@preset/a:b", "x/a"])
  expect(found("team/fast:eu:nitro")).toEqual(["team/fast:eu", ":nitro", "x/b"])
  for (const other of ["team/faster", "team/fast/x", "team", ":nitro", "@preset/a", ""]) {
    expect(found(other)).toBeUndefined()
  }
})

test("the name of an alias matches without regard to case, the exact spelling first", () => {
  const aliases = { "Team/Fast": { arms: [arm("x/a")] }, "team/fast": { arms: [arm("x/b")] } }
  const found = (name: string) => findNamedAlias(aliases, name)?.name
  expect(found("Team/Fast")).toBe("Team/Fast")
  expect(found("team/fast:nitro")).toBe("team/fast")
  expect(findNamedAlias({ "Team/Fast": { arms: [arm("x/a")] } }, "TEAM/fast:nitro")).toMatchObject({
    name: "Team/Fast",
    suffix: ":nitro",
  })
})
