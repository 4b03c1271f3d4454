import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { newWorkspace, expectJson } from "../support/world.ts"

type Failure = { error: { message: string } }

test("feedback on a response is stored with its generation, for a management key of its organization", async () => {
  const workspace = await newWorkspace()
  const response = await workspace.as.chat("sim/echo", "Hi")
  await response.text()
  const id = response.headers.get("x-generation-id") ?? ""
  const feedback = { generation_id: id, category: "formatting", comment: "No code fence." }
  expect(await expectJson(200, workspace.manage.post("/generation/feedback", feedback))).toEqual({
    data: { success: true },
  })
  const row = await env.DB.prepare("SELECT category, comment FROM generation_feedback WHERE generation_id = ?")
    .bind(id)
    .first()
  expect(row).toEqual({ category: "formatting", comment: "No code fence." })

  await expectJson(403, workspace.as.post("/generation/feedback", feedback))
  await expectJson(404, (await newWorkspace()).manage.post("/generation/feedback", feedback))
  const { error } = await expectJson<Failure>(
    400,
    workspace.manage.post("/generation/feedback", { ...feedback, category: "rude" }),
  )
  expect(error.message).toContain("category: accepts latency")
})
