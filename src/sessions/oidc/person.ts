import { newKey } from "../../access/key.ts"
import { invalidateKey } from "../../access/key-cache.ts"
import { type Actor, newEntry } from "../../audit/entry.ts"
import type { Env } from "../../config/env.ts"
import { inheritedTerms } from "../../keys/replacement.ts"
import type { KeyRow } from "../../keys/table.ts"
import type { MemberRow } from "../../members/table.ts"
import { type ConsoleSession, SESSION_MS } from "../cookie.ts"
import { invalidateMember, kindOf } from "../member-kind.ts"
import { findConsoleKey, findConsoleWorkspace, findMembersByEmail, insertConsoleKey, renewConsoleKey } from "./store.ts"

/** Why a person who signed in at the provider gets no session. */
export type SignInRejection = "not_member" | "disabled"

type SignIn = {
  env: Env
  email: string
  /** The organization that the person chose; undefined for the one that they joined first. */
  organizationId: string | undefined
  origin: Pick<Actor, "ip" | "userAgent" | "requestId" | "at">
}

/**
 * A session of a member. It uses a separate key per person: with the rights of their role and the limits and guardrails
 * that apply to them, and listed among the keys, so that disabling it ends the sessions. The key does not expire, since
 * keys and interns that the person makes would expire with it: the session does.
 */
export async function signInMember({
  env,
  email,
  organizationId,
  origin,
}: SignIn): Promise<ConsoleSession | SignInRejection> {
  const { DB: db } = env
  const memberships = await findMembersByEmail(db, email)
  const member = memberships.find((each) => organizationId === undefined || each.organizationId === organizationId)
  if (!member) return "not_member"
  const expiresAt = origin.at + SESSION_MS
  // Another sign-in of the person may create the key first.
  const key = (await keyFor(env, member, origin)) ?? (await keyFor(env, member, origin))
  if (key === undefined) return "not_member"
  if (key === "disabled") return key
  invalidateKey(key.hash)
  invalidateMember(member)
  return { keyHash: key.hash, expiresAt, userId: member.userId }
}

async function keyFor(
  env: Env,
  member: MemberRow,
  origin: SignIn["origin"],
): Promise<{ hash: string } | "disabled" | undefined> {
  const existing = await findConsoleKey(env.DB, member.organizationId, member.userId)
  if (!existing || existing.deletedAt !== null) return mint(env, member, { origin, deleted: existing })
  return existing.disabled ? "disabled" : renew(env.DB, member, existing.hash, origin)
}

function nameOf({ firstName, lastName, email }: MemberRow): string {
  const name = [firstName, lastName].filter((part) => part !== null).join(" ")
  return `Console: ${name === "" ? email : name}`.slice(0, 128)
}

type Minting = { origin: SignIn["origin"]; deleted: KeyRow | undefined }

/** Limits and the guardrail of the person's deleted key apply to the new one. */
async function mint(env: Env, member: MemberRow, { origin, deleted }: Minting): Promise<{ hash: string } | undefined> {
  const { organizationId, userId } = member
  const kind = kindOf(member)
  const workspaceId = await findConsoleWorkspace(env.DB, { organizationId, userId, isManager: kind === "management" })
  if (workspaceId === undefined) return undefined
  // The secret is discarded here.
  const { hash, label } = newKey()
  const key = {
    ...(deleted && inheritedTerms(deleted)),
    hash,
    label,
    organizationId,
    workspaceId,
    kind,
    name: nameOf(member),
    creatorUserId: userId,
    createdAt: origin.at,
  }
  const entry = entryOf(member, { hash, label }, origin)
  const replaced = deleted && {
    hash: deleted.hash,
    assignment: newEntry(actorOf(member, { hash, label }, origin), {
      action: "guardrail_key.assign",
      resourceId: hash,
      workspaceId,
    }),
  }
  return (await insertConsoleKey(env.DB, { key, userId, replaced, entry })) ? { hash } : undefined
}

async function renew(
  db: D1Database,
  member: MemberRow,
  hash: string,
  origin: SignIn["origin"],
): Promise<{ hash: string } | undefined> {
  const change = { kind: kindOf(member), name: nameOf(member) }
  const entry = entryOf(member, { hash, label: nameOf(member) }, origin)
  const isRenewed = await renewConsoleKey(db, { ...change, organizationId: member.organizationId, hash, entry })
  return isRenewed ? { hash } : undefined
}

type SessionKey = { hash: string; label: string }

function entryOf(member: MemberRow, key: SessionKey, origin: SignIn["origin"]) {
  const event = { action: "console_session.create", resourceId: member.userId, workspaceId: null } as const
  return newEntry(actorOf(member, key, origin), event)
}

const actorOf = (
  { organizationId, userId }: MemberRow,
  { hash, label }: SessionKey,
  origin: SignIn["origin"],
): Actor => ({ organizationId, keyHash: hash, label, creatorUserId: userId, ...origin })
