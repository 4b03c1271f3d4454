import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { requirePublicMedia } from "../../src/inference/input/media-urls.ts"
import { runs } from "../support/runs.ts"

const hosts = () => ({ allowedHosts: new Set(["wiki.internal"]), privateHosts: new Set(["10.0.0.5:8080"]) })
const check = (body: object) => () => requirePublicMedia(body, hosts)
const ofUser = (part: object) => ({ messages: [{ role: "user", content: [{ type: "text", text: "Look" }, part] }] })

/** Bodies that name media by URL, with the path in the error. */
const BODIES: [string, (url: string) => object, string][] = [
  ["chat image", (url) => ofUser({ type: "image_url", image_url: { url } }), "messages[0].content[1].image_url.url"],
  ["chat video", (url) => ofUser({ type: "video_url", video_url: { url } }), "messages[0].content[1].video_url.url"],
  ["chat file", (url) => ofUser({ type: "file", file: { file_data: url } }), "messages[0].content[1].file.file_data"],
  [
    "messages image",
    (url) => ofUser({ type: "image", source: { type: "url", url } }),
    "messages[0].content[1].source.url",
  ],
  [
    "image in a tool result",
    (url) => ofUser({ type: "tool_result", content: [{ type: "image", source: { type: "url", url } }] }),
    "messages[0].content[1].content[0].source.url",
  ],
  [
    "responses image",
    (url) => ({ input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }),
    "input[0].content[0].image_url",
  ],
  [
    "responses file",
    (url) => ({ input: [{ role: "user", content: [{ type: "input_file", file_url: url }] }] }),
    "input[0].content[0].file_url",
  ],
  [
    "screenshot",
    (url) => ({ input: [{ type: "computer_call_output", output: { type: "computer_screenshot", image_url: url } }] }),
    "input[0].output.image_url",
  ],
  ["rerank document", (url) => ({ query: "q", documents: ["a", { image: url }] }), "documents[1].image"],
  ["image edit", (url) => ({ prompt: "p", images: [url] }), "images[0]"],
  [
    "reference of a video",
    (url) => ({ input_references: [{ image_url: { url } }] }),
    "input_references[0].image_url.url",
  ],
  [
    "MCP server of a vendor's tool",
    (url) => ({ input: "Hi", tools: [{ type: "mcp", server_label: "wiki", server_url: url }] }),
    "tools[0].server_url",
  ],
  [
    "mask of an image tool",
    (url) => ({ tools: [{ type: "image_generation", input_image_mask: { image_url: url } }] }),
    "tools[0].input_image_mask.image_url",
  ],
  ["frame of a video", (url) => ({ prompt: "p", first_frame_image: url }), "first_frame_image"],
]

const PRIVATE = [
  "http://169.254.169.254/latest/meta-data/",
  "https://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://[::1]:8000/v1/models",
  "http://[::ffff:10.0.0.1]/",
  "http://localhost:11434/api/tags",
  "HTTP://LOCALHOST/",
  "http://metadata.google.internal/",
  "http://10.0.0.5:8081/",
  "http://168.63.129.16/",
  "//10.0.0.1/image.png",
  " http://10.0.0.1/",
  "\u0001http://10.0.0.1/",
  "ht\ntp://10.0.0.1/",
  `${" ".repeat(100)}http://10.0.0.1/`,
  "http://public.example\\@10.0.0.1/",
  "http://public.example/\t.png",
  "file:///etc/passwd",
  "http://[",
]

describe.each(BODIES)("the URL of a %s", (_, bodyOf, path) => {
  test.each(PRIVATE)("%j is rejected, with its path", (url) => {
    expect(check(bodyOf(url))).toThrow(`${path}: `)
  })

  test.each([
    "https://images.example/cat.png",
    "http://93.184.216.34/cat.png",
    "https://user:word@images.example:8443/cat.png?at=10.0.0.1",
    "https://wiki.internal/cat.png",
    "http://10.0.0.5:8080/cat.png",
    "gs://bucket/cat.png",
    "s3://bucket/cat.png",
    "data:image/png;base64,aGVsbG8=",
    "DATA:image/png;base64,aGVsbG8=",
    "aGVsbG8=",
    "file-abc",
    "",
  ])("%j is accepted", (url) => {
    expect(check(bodyOf(url))).not.toThrow()
  })
})

describe("text that is never fetched", () => {
  const url = "http://127.0.0.1:3000/"
  test.each([
    ["a prompt", { prompt: url }],
    ["a text part", ofUser({ type: "text", text: url })],
    ["a message", { messages: [{ role: "user", content: url }] }],
    [
      "a citation",
      { messages: [{ role: "assistant", annotations: [{ type: "url_citation", url_citation: { url } }] }] },
    ],
    ["an argument", { messages: [{ role: "assistant", tool_calls: [{ function: { arguments: url } }] }] }],
    ["a search result", ofUser({ type: "web_search_tool_result", content: [{ type: "web_search_result", url }] })],
    ["a tool", { tools: [{ type: "function", function: { name: "f", parameters: { image: { default: url } } } }] }],
    ["the input of speech", { input: url, voice: "alloy" }],
  ])("%s may contain a private URL", (_, body) => {
    expect(check(body)).not.toThrow()
  })
})

test("no spelling of a private IPv4 address is accepted", () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const address = fc.oneof(
    fc.tuple(fc.constant(10), octet, octet, octet),
    fc.tuple(fc.constant(127), octet, octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  )
  const spelled = (octets: number[], form: number) => {
    const number = octets.reduce((sum, one) => sum * 256 + one, 0)
    return [
      octets.join("."),
      String(number),
      `0x${number.toString(16)}`,
      octets.map((one) => `0${one.toString(8)}`).join("."),
      `[::ffff:${octets.join(".")}]`,
      `${octets[0]}.${number % 16_777_216}`,
    ][form]
  }
  fc.assert(
    fc.property(address, fc.nat(5), fc.constantFrom(...BODIES), (octets, form, [, bodyOf]) => {
      expect(check(bodyOf(`http://${spelled(octets, form)}/x`))).toThrow("the address is not a public one")
    }),
    { numRuns: runs(8) },
  )
})
