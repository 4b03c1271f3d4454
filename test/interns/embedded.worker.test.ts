import { env } from "cloudflare:workers"
import { runInDurableObject } from "cloudflare:test"
import { describe, expect, onTestFinished, test } from "vitest"
import { crashIntern, internObject } from "../support/intern-object.ts"
import { internChat } from "../support/intern-chat.ts"
import { chunk, DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { newWorkspace, expectJson } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

async function newIntern(model: string, more: Record<string, unknown> = {}) {
  const workspace = await newWorkspace()
  const { id } = await expectJson<{ id: string }>(
    201,
    workspace.as.post("/interns", { name: "ada", model, provision: true, ...more }),
  )
  await eventually(async () => {
    const { status } = await expectJson<{ status: string }>(200, workspace.as.get(`/interns/${id}`))
    expect(status).toBe("running")
  })
  return { workspace, id, chat: internChat(workspace.key, id), object: internObject(id) }
}

describe("the embedded agent", () => {
  test("responds with the intern's model, and its calls are charged to the intern's key", async () => {
    const { workspace, id, chat } = await newIntern("sim/echo", { instructions: "Be brief." })
    const reading = await (await chat.send("Hello")).all()
    expect(reading.text).toBe("Hello")
    expect(reading.finish).toBe("stop")
    expect(reading.usage?.prompt_tokens).toBeGreaterThan(0)
    const { hash } = (await env.DB.prepare("SELECT hash FROM api_keys WHERE intern_id = ?")
      .bind(id)
      .first<{ hash: string }>()) ?? {
      hash: "",
    }
    await workspace.ledger.balance()
    await eventually(async () => {
      const row = await env.DB.prepare("SELECT count(*) AS n FROM generations WHERE key_hash = ?")
        .bind(hash)
        .first<{ n: number }>()
      expect(row?.n).toBe(1)
    })
  })

  test("asks for permission before a shell command, runs it and reports the usage of the complete turn", async () => {
    const { chat } = await newIntern("sim/tool-call")
    const requests = await (await chat.send("echo hello | tr a-z A-Z")).all()
    expect(requests.question).toMatchObject({
      kind: "permission",
      operation: "shell",
      options: ["allow_once", "allow_always", "reject_once", "reject_always"],
    })
    const reported = await (await chat.answer(requests.session, requests.question.id, "allow_once")).all()
    expect(reported.text).toContain("HELLO")
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, cost } = reported.usage ?? {}
    expect(completion).toBeGreaterThan(5)
    expect(cost).toBeCloseTo(prompt * 0.000001 + completion * 0.000002, 9)
    const again = await (await chat.send("pwd", { session_id: requests.session })).all()
    expect(again.finish).toBe("tool_calls")
  })

  test("has git and patch in its shell", async () => {
    const { chat } = await newIntern("sim/agent")
    const commands =
      "git init -q; echo one > a; git add a; git commit -m First; echo two >> a; git diff > p; git checkout -- a; patch -p1 < p; cat a"
    const { text } = await (await chat.send(`$ ${commands}`, { approval_mode: "self-drive" })).all()
    expect(text).toMatch(/\[main [0-9a-f]{7}\] First[^]*patching file a\none\ntwo/)
  })

  test("has Python in its shell, without JavaScript access and with a step limit", async () => {
    const { chat } = await newIntern("sim/agent")
    const sendCommand = async (command: string) =>
      (await (await chat.send(`$ ${command}`, { approval_mode: "self-drive" })).all()).text
    expect(await sendCommand(`python3 -c "open('a', 'w').write(str(2**64))" && cat a`)).toContain(
      "18446744073709551616",
    )
    const past = "import builtins; del builtins.__import__; import js; print(js.globalThis)"
    expect(await sendCommand(`python3 -c "${past}" 2>&1`)).toContain("JavaScript is not available")
    expect(await sendCommand('python3 -c "while True: pass" 2>&1')).toMatch(/stopped after \d+ steps/)
    expect(await sendCommand("cat a")).toContain("18446744073709551616")
  })

  test("asks no more in a session after allow_always, but asks in others", async () => {
    const { chat } = await newIntern("sim/tool-call")
    const requests = await (await chat.send("echo one")).all()
    await (await chat.answer(requests.session, requests.question.id, "allow_always")).all()
    const free = await (await chat.send("echo two", { session_id: requests.session })).all()
    expect(free.text).toContain("two")
    expect((await (await chat.send("echo three")).all()).finish).toBe("tool_calls")
  })

  test("does not run a rejected command, and asks no more after reject_always", async () => {
    const { chat, object } = await newIntern("sim/tool-call")
    const requests = await (await chat.send("echo x > file")).all()
    const reported = await (await chat.answer(requests.session, requests.question.id, "reject_always")).all()
    expect(reported.text).toContain("did not allow")
    const again = await (await chat.send("echo y > file", { session_id: requests.session })).all()
    expect(again.finish).toBe("stop")
    await runInDurableObject(object, (_, state) => {
      expect([...state.storage.sql.exec("SELECT path FROM disk")]).toEqual([])
    })
  })

  test("calls several tools at once, and asks for each in turn", async () => {
    const { chat } = await newIntern("sim/parallel-tools")
    let reading = await (await chat.send("echo n")).all()
    let questions = 0
    while (reading.finish === "tool_calls") {
      questions++
      reading = await (await chat.answer(reading.session, reading.question.id, "allow_once")).all()
    }
    expect(reading.finish).toBe("stop")
    expect(questions).toBeGreaterThanOrEqual(1)
  })

  test("continues after its object crashed with an open question", async () => {
    const { chat, id } = await newIntern("sim/tool-call")
    const requests = await (await chat.send("echo still here")).all()
    await crashIntern(id)
    const reported = await (await chat.answer(requests.session, requests.question.id, "allow_once")).all()
    expect(reported.text).toContain("still here")
  })

  test("runs each call of a model that repeats ids, and sends every call with its own id", async () => {
    const { workspace, id, chat } = await newIntern("played/flat")
    const call = (index: number, command: string) => {
      return { index, id: "x", type: "function", function: { name: "shell", arguments: JSON.stringify({ command }) } }
    }
    const round = (...calls: object[]) =>
      sse([chunk({ role: "assistant", tool_calls: calls }), chunk({}, "tool_calls"), usageChunk(10, 1), DONE])
    const rounds = [() => round(call(0, "echo 1 > a"), call(1, "echo 2 > b")), () => round(call(0, "echo 3 > c"))]
    const provider = mockProvider(() => rounds.shift()?.() ?? sse(good("Done")))
    const reading = await (await chat.send("Go", { approval_mode: "self-drive" })).all()
    provider.stop()
    expect(reading.text).toBe("Done")
    const { data } = await expectJson<{ data: { path: string }[] }>(200, workspace.as.get(`/interns/${id}/files`))
    expect(data.map(({ path }) => path)).toEqual(["a", "b", "c"].map((name) => `/home/intern/${name}`))
    type Sent = { tool_calls?: { id: string }[]; tool_call_id?: string }
    const sent = provider.upstreamCalls.at(-1)?.body["messages"] as Sent[]
    const ids = sent.flatMap(({ tool_calls: calls = [] }) => calls.map((one) => one.id))
    expect(new Set(ids).size).toBe(3)
    expect(sent.flatMap(({ tool_call_id: answered }) => answered ?? [])).toEqual(ids)
  })

  test("is steered during a turn, and answers both prompts in the same stream", async () => {
    const { chat } = await newIntern("sim/paced")
    const reading = await chat.send("First words", { session_id: "s" })
    await reading.until("First")
    const steered = await chat.send("Second thoughts", { session_id: "s" })
    expect(steered.response.status).toBe(202)
    await reading.all()
    expect(reading.text).toContain("Second thoughts")
  })

  test("stops when its client disconnects, and accepts the next prompt", async () => {
    const { chat } = await newIntern("sim/paced")
    const reading = await chat.send("Long story", { session_id: "s" })
    await reading.until("Long")
    reading.leave()
    const next = await eventually(async () => {
      const one = await chat.send("Short one", { session_id: "s" })
      expect(one.response.status).toBe(200)
      return one
    })
    expect((await next.all()).finish).toBe("stop")
  })

  test("reports a model failure, and whether it is retryable", async () => {
    for (const [model, retryable, code] of [
      ["sim/status-400", false, 400],
      ["sim/status-503", true, 503],
    ] as const) {
      const { chat } = await newIntern(model)
      const reading = await (await chat.send("Hello")).all()
      expect(reading.finish).toBe("error")
      expect(reading.error).toMatchObject({ metadata: { reason: "turn_failed", retryable } })
      expect([code, 502]).toContain(reading.error?.code)
    }
  })

  test("reports the cost of a model call whose stream broke", async () => {
    const { workspace, id, chat } = await newIntern("played/m1")
    const provider = mockProvider(() =>
      sse([chunk({ role: "assistant", content: "I was about to" }), new Error("reset")]),
    )
    onTestFinished(provider.stop)
    const reading = await (await chat.send("Tell me a story")).all()
    expect(reading.finish).toBe("error")
    await workspace.ledger.balance()
    const row = await eventually(async () => {
      const found = await env.DB.prepare(
        "SELECT g.cost_nano AS cost FROM generations g JOIN api_keys k ON k.hash = g.key_hash WHERE k.intern_id = ?",
      )
        .bind(id)
        .first<{ cost: number }>()
      expect(found?.cost).toBeGreaterThan(0)
      return found
    })
    expect(reading.usage?.completion_tokens).toBeGreaterThan(0)
    expect(reading.usage?.cost).toBeCloseTo((row?.cost ?? 0) / 1e9, 12)
  })

  test("stops a command that would never end", async () => {
    const { chat } = await newIntern("sim/tool-call")
    const reading = await (await chat.send("while true; do :; done", { approval_mode: "self-drive" })).all()
    expect(reading.finish).toBe("stop")
    expect(reading.text).toMatch(/limit|iterations|too many/i)
  })

  test("allows a shell function hundreds of recursive calls", async () => {
    const { chat } = await newIntern("sim/agent")
    const command = "f() { if [ $1 -gt 0 ]; then f $(($1-1)); else echo at the bottom; fi; }; f 450"
    const reading = await (await chat.send(`$ ${command}`, { approval_mode: "self-drive" })).all()
    expect(reading.text).toContain("at the bottom")
  })

  test("keeps its files within the disk limit", async () => {
    const { chat, object } = await newIntern("sim/tool-call")
    const command =
      "seq 1 5000 > a; for i in 1 2 3 4 5 6; do cat a a a a a a a a a a >> big; done; rm a; echo small > small; ls"
    await (await chat.send(command, { approval_mode: "self-drive" })).all()
    await runInDurableObject(object, (_, state) => {
      const paths = [...state.storage.sql.exec<{ path: string }>("SELECT path FROM disk")].map(({ path }) => path)
      expect(paths).toEqual(["/home/intern/small"])
    })
  })

  test("publishes a file that keys of its workspace can download", async () => {
    const { workspace, chat } = await newIntern("played/m77")
    const call = (name: string, input: object) => {
      const called = { name, arguments: JSON.stringify(input) }
      return { tool_calls: [{ index: 0, id: `call_${name}`, type: "function", function: called }] }
    }
    const rounds = [
      call("write_file", { path: "report.md", content: "# Done" }),
      call("publish_file", { path: "report.md" }),
      { content: "There it is." },
    ]
    const mock = mockProvider(() => {
      const delta = rounds.shift()
      const isCall = delta !== undefined && "tool_calls" in delta
      const chunk = (choices: object[]) => ({
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m77",
        choices,
      })
      const finish = isCall ? "tool_calls" : "stop"
      const output = [
        chunk([{ index: 0, delta, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: finish }]),
      ]
      return sse([...output.map((one) => `data: ${JSON.stringify(one)}\n\n`), "data: [DONE]\n\n"])
    })
    try {
      const reading = await (await chat.send("Write a report")).all()
      expect(reading.finish, reading.raw).toBe("stop")
    } finally {
      mock.stop()
    }
    type List = { data: { id: string; filename: string; downloadable: boolean; mime_type: string }[] }
    const { data } = await expectJson<List>(200, workspace.as.get("/files"))
    expect(data).toMatchObject([{ filename: "report.md", downloadable: true }])
    const content = await workspace.as.get(`/files/${data[0]?.id}/content`)
    expect(await content.text()).toBe("# Done")
  })

  test("exposes the placeholder of a secret, and its value in no environment, response or row", async () => {
    const { workspace, id, chat, object } = await newIntern("sim/tool-call")
    const value = "canary-7f3a9c-value"
    await expectJson(
      200,
      workspace.as.put(`/vault/interns/${id}/secrets/api_token`, { hosts: ["api.example.com"], value }),
    )
    const reading = await (
      await chat.send("env; curl -s http://api.example.com/?t=$API_TOKEN", { approval_mode: "self-drive" })
    ).all()
    expect(reading.text).toContain("API_TOKEN=vault-api_token-")
    expect(reading.raw).not.toContain(value)
    type Transcript = { data: { kind: string; command?: string; folder?: string }[] }
    const path = `/interns/${id}/sessions/${reading.session}`
    const transcript = await expectJson<Transcript>(200, workspace.as.get(path))
    expect(JSON.stringify(transcript)).not.toContain(value)
    expect(transcript.data.find(({ kind }) => kind === "tool_call")).toMatchObject({
      command: "env; curl -s http://api.example.com/?t=$API_TOKEN",
      folder: "/home/intern",
    })
    await runInDurableObject(object, (_, state) => {
      const tables = [
        ...state.storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'"),
      ]
      for (const { name } of tables) {
        if (name.startsWith("_cf")) continue
        expect(JSON.stringify([...state.storage.sql.exec(`SELECT * FROM ${name}`)])).not.toContain(value)
      }
    })
  })
})
