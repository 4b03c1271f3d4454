/** What a gateway sends to the daemon of an intern. */
export const AGENT_CONFIG = {
  intern_id: "i",
  name: "ada",
  model: "acme/chat-1",
  instructions: null,
  api_base: "https://gateway.example.com/api/v1",
  api_key: "sk-intern-own",
  secrets_url: "https://gateway.example.com/api/v1/interns/i/daemon/secrets",
  egress_url: "https://gateway.example.com/api/v1/interns/i/daemon/egress",
}
