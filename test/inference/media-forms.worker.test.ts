import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { expectJson, newKey, newWorkspace, openHolds, operatorClient, receiptOf } from "../support/world.ts"

type Json = Record<string, unknown>
type Failure = { error: { code: number; message: string } }
type Part = string | File

const PNG = new File([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1, 2, 3)], "cat.png", { type: "image/png" })
const MASK = new File([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 9)], "mask.png", { type: "image/png" })
const SOUND = new File([new Uint8Array(40_000)], "a.mp3", { type: "audio/mp3" })

function post(key: string, path: string, parts: readonly (readonly [string, Part])[]): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of parts) form.append(name, value)
  const init = { method: "POST", headers: { authorization: `Bearer ${key}` }, body: form }
  return (exports as unknown as { default: Fetcher }).default.fetch(`http://gateway.test/api/v1${path}`, init)
}

afterEach(() => vi.restoreAllMocks())

type Sent = { url: string; form: FormData }

function respondWith(answer: () => Response): Sent[] {
  const sent: Sent[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    sent.push({ url: request.url, form: await request.formData() })
    return answer()
  })
  return sent
}

let made = 0
async function newModel(output: string, pricing: Json): Promise<string> {
  const id = `acme/form-${output}-${(made += 1)}`
  const endpoints = [
    { provider: "replica-a", upstream_id: "up", pricing: { prompt: "0", completion: "0", ...pricing } },
  ]
  const models = [{ id, name: id, output_modalities: [output], endpoints }]
  await expectJson(200, operatorClient.put("/catalogue", { models }))
  return id
}

const pictures = (count: number) => ({ created: 1, data: Array.from({ length: count }, () => ({ b64_json: "aGk=" })) })

describe("POST /images/edits", () => {
  test("sends images, mask and fields as a form, and charges input and generated images", async () => {
    const workspace = await newWorkspace()
    const model = await newModel("image", { image: "0.001", image_output: "0.02" })
    const sent = respondWith(() => Response.json(pictures(2)))
    const response = await post(workspace.key, "/images/edits", [
      ["model", model],
      ["prompt", "Make it blue"],
      ["image[]", PNG],
      ["image[]", PNG],
      ["mask", MASK],
      ["n", "2"],
      ["size", "1024x1024"],
      ["user", "ada@example.com"],
      ["num_images", "9"],
    ])
    const { data } = await expectJson<{ data: object[] }>(200, response.clone())
    expect(data).toHaveLength(2)
    const [{ url, form } = { url: "", form: new FormData() }] = sent
    expect(url).toBe("http://replica-a.test/v1/images/edits")
    expect([form.get("model"), form.get("prompt"), form.get("n"), form.get("size")]).toEqual([
      "up",
      "Make it blue",
      "2",
      "1024x1024",
    ])
    const images = form.getAll("image[]") as unknown as File[]
    expect(images.map(({ name, type, size }) => [name, type, size])).toEqual([
      ["image.png", "image/png", PNG.size],
      ["image.png", "image/png", PNG.size],
    ])
    expect((form.get("mask") as unknown as File).size).toBe(MASK.size)
    expect(form.has("num_images")).toBe(false)
    expect(form.get("user")).toMatch(/^[0-9a-f]{32}$/)
    expect((await receiptOf(workspace, response)).total_cost).toBeCloseTo(3 * 0.001 + 2 * 0.02, 9)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("names and parameters of files, which guardrails cannot read, are not sent", async () => {
    const { key } = await newWorkspace()
    const model = await newModel("image", { image_output: "0.02" })
    const sent = respondWith(() => Response.json(pictures(1)))
    const bytes = await PNG.arrayBuffer()
    const named = new File([bytes], "ada@example.com.PNG", { type: "image/png; note=ada@example.com" })
    const parts = [["model", model] as const, ["prompt", "x"] as const, ["image", named] as const]
    await expectJson(200, post(key, "/images/edits", [...parts, ["mask", named]]))
    expect(sent[0]?.form.get("image")).toMatchObject({ name: "image.png", type: "image/png" })
    expect(sent[0]?.form.get("mask")).toMatchObject({ name: "mask.png", type: "image/png" })
    const stt = await newModel("transcription", { second: "0.001" })
    const heard = respondWith(() => Response.json({ text: "Hello", duration: 1 }))
    const sound = new File([bytes], "of ada@example", { type: "audio/mp3; note=ada@example.com" })
    await expectJson(
      200,
      post(key, "/audio/transcriptions", [
        ["model", stt],
        ["file", sound],
      ]),
    )
    expect(heard[0]?.form.get("file")).toMatchObject({ name: "audio", type: "audio/mp3" })
  })

  test("one image is sent as the part image", async () => {
    const { key } = await newWorkspace()
    const model = await newModel("image", { image_output: "0.02" })
    const sent = respondWith(() => Response.json(pictures(1)))
    const parts = [["model", model] as const, ["prompt", "x"] as const, ["image", PNG] as const]
    await expectJson(200, post(key, "/images/edits", parts))
    expect(sent[0]?.form.get("image")).toMatchObject({ name: "image.png", size: PNG.size })
  })

  test.each([
    [[["prompt", "x"]], "image"],
    [[["image", PNG]], "prompt"],
    [
      [
        ["prompt", "x"],
        ["image", "not a file"],
      ],
      "image",
    ],
    [
      [
        ["prompt", "x"],
        ["image", PNG],
        ["n", "11"],
      ],
      "n",
    ],
    [
      [
        ["prompt", "x"],
        ["image", PNG],
        ["stream", "true"],
      ],
      "stream",
    ],
    [[["prompt", "x"], ...Array.from({ length: 17 }, () => ["image[]", PNG])], "image"],
  ] as [[string, Part][], string][])(
    "a wrong form is rejected with 400 that names the part, case %#",
    async (parts, field) => {
      const { key } = await newWorkspace()
      const { error } = await expectJson<Failure>(400, post(key, "/images/edits", [["model", "sim/image"], ...parts]))
      expect(error.message.startsWith(field), error.message).toBe(true)
    },
  )

  test("JSON is rejected with 400, as the image is a file", async () => {
    const { as } = await newWorkspace()
    const { error } = await expectJson<Failure>(400, as.post("/images/edits", { model: "sim/image", prompt: "x" }))
    expect(error.message).toContain("multipart/form-data")
  })

  test("a guardrail blocks the prompt before a provider is called", async () => {
    const workspace = await newWorkspace()
    const rules = { name: "no ann", content_filters: [{ pattern: "ann@example\\.com", action: "block" }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
    const { key, hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const sent = respondWith(() => Response.json(pictures(1)))
    const parts = [
      ["model", "sim/image"],
      ["prompt", "write ann@example.com on it"],
      ["image", PNG],
    ] as const
    await expectJson(403, post(key, "/images/edits", parts))
    expect(sent).toEqual([])
  })
})

describe("POST /audio/translations", () => {
  test("sends the audio to the provider's translations, and charges its seconds", async () => {
    const workspace = await newWorkspace()
    const model = await newModel("transcription", { second: "0.001" })
    const sent = respondWith(() => Response.json({ text: "Good day", duration: 2 }))
    const parts = [["model", model] as const, ["file", SOUND] as const, ["prompt", "names"] as const]
    const response = await post(workspace.key, "/audio/translations", parts)
    expect(await expectJson(200, response.clone())).toMatchObject({ text: "Good day" })
    expect(sent[0]?.url).toBe("http://replica-a.test/v1/audio/translations")
    expect(sent[0]?.form.get("file")).toMatchObject({ size: 40_000 })
    expect((await receiptOf(workspace, response)).total_cost).toBe(0.002)
  })
})
