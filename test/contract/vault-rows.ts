import type { ContractRow } from "./rows.ts"

const file = "test/vault/vault.worker.test.ts"

const row = (section: string, promise: string, name: string): ContractRow => ({
  section,
  promise,
  proof: { file, name },
})

export const vaultRows: readonly ContractRow[] = [
  row(
    "Secret metadata",
    "A stored secret is described by four fields, never by its value.",
    "keeps a secret, tells all of it but the value, and forgets it",
  ),
  row(
    "Secret metadata",
    "Within one vault, fingerprints match exactly where values match.",
    "are equal for equal values in one vault, and for no others",
  ),
  row(
    "Secret metadata",
    "Two vaults give one value two fingerprints.",
    "of one value differ from vault to vault, and are no hash of the value alone",
  ),
  row("Store a secret", "Names outside the pattern are a 400.", "refuses the name %s, and says what a name is"),
  row("Store a secret", "Names of 1 to 255 characters in the pattern are accepted.", "takes the name %s"),
  row("Store a secret", "Missing, empty or excess hosts and an empty value are a 400.", "refuses a secret %s"),
  row(
    "Store a secret",
    "A value may have 65536 characters and no more.",
    "takes a value of 65536 characters, of any writing, and no more",
  ),
  row(
    "Store a secret",
    "Hosts are stored in lower case without a final dot.",
    "keeps a secret, tells all of it but the value, and forgets it",
  ),
  row(
    "Store a secret",
    "A second write under the same name replaces the first.",
    "is replaced name by name; the record stays, the value and the hosts change",
  ),
  row("Store a secret", "Disabled writes answer 503.", "while writes are disabled they are 503, and reading goes on"),
  row(
    "Delete a secret",
    "Deletion is a 204 without a body; a missing name is a 404.",
    "keeps a secret, tells all of it but the value, and forgets it",
  ),
  row("Delete a secret", "Disabled writes answer 503.", "while writes are disabled they are 503, and reading goes on"),
  row(
    "Authentication",
    "The key of an intern reaches its own vault; other vaults are a 404.",
    "is open to the intern's own key, to which no other vault is there",
  ),
  row("Authentication", "Vault routes are a 404 outside the programme.", "outside the programme, no vault is there"),
  row("Authentication", "Regional hostnames refuse vault routes.", "a regional hostname has no vaults"),
]
