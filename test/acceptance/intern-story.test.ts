import { afterAll, beforeAll, test } from "vitest"
import { liveStory } from "../support/intern-story.ts"
import { startReceiver } from "./receivers.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

let organization: Organization
let receiver: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  organization = await newOrganization()
  receiver = await startReceiver()
})
afterAll(() => receiver.stop())

test("first hour with an embedded intern: ask, reject, allow, disconnect, return, answer, schedule, cost", async () => {
  const { apiKey: key } = organization
  await liveStory({
    url: gatewayUrl,
    key,
    creation: {},
    start: async () => {},
    readFile: async (id, name) => {
      const headers = { authorization: `Bearer ${key}` }
      const found = await fetch(`${gatewayUrl}/interns/${id}/files/content?path=${name}`, { headers })
      const text = await found.text()
      return found.status === 404 ? undefined : text
    },
    receiver,
  })
})
