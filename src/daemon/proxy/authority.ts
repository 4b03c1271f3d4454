import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { createSecureContext, type SecureContext } from "node:tls"
import { ExpiringMap } from "../../support/time/expiring-map.ts"
import { bits, explicit, implicit, integer, octets, oid, sequence, set, time, utf8, yes } from "./der.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const CA_DAYS = 3_650
const LEAF_DAYS = 7
/** Maximum of cached certificates. */
const MAX_HOSTS = 1_000

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"))
const COMMON_NAME = "2.5.4.3"
const EXTENSION = {
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  subjectAltName: "2.5.29.17",
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
}
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1"

type Pair = { publicKey: KeyObject; privateKey: KeyObject }

const newPair = (): Pair => generateKeyPairSync("ec", { namedCurve: "P-256" })
const nameOf = (text: string) => sequence(set(sequence(oid(COMMON_NAME), utf8(text))))
const spkiOf = ({ publicKey }: Pair) => publicKey.export({ type: "spki", format: "der" })
const idOf = (pair: Pair) => createHash("sha1").update(spkiOf(pair)).digest()

function extension(name: keyof typeof EXTENSION, value: Buffer, isCritical = false): Buffer {
  return sequence(oid(EXTENSION[name]), ...(isCritical ? [yes] : []), octets(value))
}

type Certificate = { subject: string; subjectPair: Pair; extensions: Buffer[]; days: number; now: number }

/** A certificate (RFC 5280) in PEM. */
function certify(
  issuer: string,
  issuerPair: Pair,
  { subject, subjectPair, extensions, days, now }: Certificate,
): string {
  const serial = randomBytes(16)
  // The first bit is the sign, and a serial number must not start with zeros.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const result = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_SHA256,
    nameOf(issuer),
    // Valid from an hour ago, since clocks differ.
    sequence(time(now - HOUR_MS), time(now + days * DAY_MS)),
    nameOf(subject),
    spkiOf(subjectPair),
    explicit(3, sequence(...extensions)),
  )
  const certificate = sequence(result, ECDSA_SHA256, bits(sign("sha256", result, issuerPair.privateKey)))
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? []
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n")
}

const toPem = ({ privateKey }: Pair) => privateKey.export({ type: "pkcs8", format: "pem" })

export type Authority = {
  /** CA certificate for the agent to trust, in PEM. Its private key stays in the memory of this process. */
  certificate: string
  /** The certificate of a host for the agent. */
  contextFor: (host: string) => SecureContext
}

/** A certificate authority for the hosts of one daemon's secrets. */
export function newAuthority(internId: string, now: () => number = Date.now): Authority {
  const name = `Egress of intern ${internId}`
  const pair = newPair()
  const certificate = certify(name, pair, {
    subject: name,
    subjectPair: pair,
    days: CA_DAYS,
    now: now(),
    extensions: [
      extension("basicConstraints", sequence(yes, integer(Buffer.from([0]))), true),
      // keyCertSign and cRLSign.
      extension("keyUsage", bits(Buffer.from([0x06]), 1), true),
      extension("subjectKeyIdentifier", octets(idOf(pair))),
    ],
  })
  const contexts = new ExpiringMap<string, SecureContext>(MAX_HOSTS)
  const contextFor = (host: string): SecureContext => {
    const cached = contexts.get(host, now())
    if (cached) return cached.value
    const leaf = newPair()
    const cert = certify(name, pair, leafOf(host, leaf, pair, now()))
    const context = createSecureContext({ key: toPem(leaf), cert: cert + certificate })
    contexts.set(host, context, now() + DAY_MS)
    return context
  }
  return { certificate, contextFor }
}

function leafOf(host: string, leaf: Pair, issuer: Pair, now: number): Certificate {
  return {
    // Clients check the subject alternative name below; the common name is limited to 64 characters.
    subject: host.slice(0, 64),
    subjectPair: leaf,
    days: LEAF_DAYS,
    now,
    extensions: [
      extension("basicConstraints", sequence(), true),
      // digitalSignature.
      extension("keyUsage", bits(Buffer.from([0x80]), 7), true),
      extension("extendedKeyUsage", sequence(oid(SERVER_AUTH))),
      extension("subjectAltName", sequence(implicit(2, Buffer.from(host, "ascii")))),
      extension("authorityKeyIdentifier", sequence(implicit(0, idOf(issuer)))),
    ],
  }
}
