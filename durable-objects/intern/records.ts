import { DurableObject } from "cloudflare:workers"
import type { Env } from "../../src/config/env.ts"
import { Disk } from "../../src/interns/embedded/shell/disk.ts"
import { type HomePage } from "../../src/interns/embedded/home.ts"
import { Memory } from "../../src/interns/embedded/memory.ts"
import type * as rpc from "../../src/interns/hosts/rpc.ts"
import { toQuestionText } from "../../src/interns/run/answer.ts"
import type { TurnUsage } from "../../src/interns/run/acp/acp.ts"
import type { Run } from "../../src/interns/run/run.ts"
import { openLedger } from "../../src/ledger/client.ts"
import { nanoToUsd } from "../../src/money/money.ts"
import type { Limit } from "../../src/ledger/limits.ts"
import { traceOfTurn } from "../../src/observability/turn.ts"
import type { RunContext } from "../../src/policy/run-context.ts"
import { MAX_SCHEDULES, type Schedule, type ScheduleChange } from "../../src/interns/schedule.ts"
import type { InternWebhook } from "../../src/interns/webhook.ts"
import { Meter } from "./meter.ts"
import { WebhookQueue } from "./webhook-queue.ts"
import { listQuestions, type QuestionChange } from "./sessions/question-list.ts"
import { RunStore } from "./run-store.ts"
import { Schedules } from "./schedules.ts"
import { TurnExports, turnRecordOf } from "./turns/turn-exports.ts"
import { SessionPermissions } from "./sessions/session-permissions.ts"
import { SessionLog, stateOf } from "./sessions/session-log.ts"

/** Data of an intern's object other than its runs, and the methods that read and change it. */
export abstract class InternRecords extends DurableObject<Env> {
  protected readonly runs: RunStore
  protected readonly log: SessionLog
  protected readonly meter: Meter
  protected readonly standing: SessionPermissions
  readonly #schedules: Schedules
  readonly #notices: WebhookQueue
  readonly #turnExports: TurnExports
  readonly #disk: Disk

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { sql } = ctx.storage
    const now = () => this.now()
    const listed = listQuestions(ctx, env)
    this.runs = new RunStore(sql, (change) => {
      listed(change)
      this.#questionChanged(change)
    })
    this.log = new SessionLog(sql, now)
    this.meter = new Meter(sql, env, this.runs)
    this.standing = new SessionPermissions(sql, () => (this.runs.fact("identity")?.host ?? "embedded") === "embedded")
    this.#schedules = new Schedules(sql, {
      log: this.log,
      now,
      spentToday: (limit) => this.#spent(limit),
      start: (call) => this.startTurn(call),
    })
    this.#notices = new WebhookQueue(sql, env, now)
    this.#turnExports = new TurnExports(env, {
      runs: this.runs,
      now,
      waitUntil: (work) => ctx.waitUntil(work),
      schedule: () => this.schedule(),
    })
    this.#disk = new Disk(sql)
  }

  protected abstract now(): number
  protected abstract startTurn(call: rpc.ChatCall): Promise<Response>
  protected abstract stopTurn(session: string): boolean
  /** Sets the alarm to the earliest deadline. */
  protected abstract schedule(): void

  /** Deadlines of these records. */
  protected get recordsDue(): (number | null)[] {
    return [this.#schedules.nextAt, this.#notices.dueAt, this.#turnExports.dueAt]
  }

  protected async runRecords(): Promise<void> {
    await this.#schedules.runDue()
    await this.#turnExports.deliverDue()
    await this.#notices.deliverDue(this.runs.fact("identity"))
  }

  /** Called after the end of another isolate. */
  protected recoverRecords(): void {
    this.#turnExports.recover()
  }

  /** Called after the storage was emptied. */
  protected resetRecords(): void {
    this.log.reset()
    this.meter.reset()
    this.#schedules.reset()
    this.#notices.reset()
    this.#turnExports.reset()
  }

  #questionChanged({ run, before, identity }: QuestionChange): void {
    const { question, session, ending } = run
    const common = { intern_id: identity?.id, workspace_id: identity?.workspaceId, session_id: session }
    if (before) {
      const unanswered = ending === "deadline" ? "question.expired" : "question.cancelled"
      this.#notices.add(ending === null ? "question.answered" : unanswered, { ...common, question_id: before.id })
    }
    if (question) {
      const data = { ...common, question_id: question.id, question: toQuestionText(question) }
      this.#notices.add("question.opened", data)
    }
  }

  /** Unless `isCounted`, the webhook waits until the returned function is called with the charged usage. */
  protected turnEnded(
    run: Run,
    error: { reason: string; message: string } | null,
    isCounted: boolean,
  ): (usage: TurnUsage | null) => void {
    const { session, usage } = run
    const identity = this.runs.fact("identity")
    const common = { intern_id: identity?.id, workspace_id: identity?.workspaceId, session_id: session }
    const isHeld = !isCounted
    const notice = this.#notices.add("turn.ended", { ...common, usage, error }, { isHeld })
    const exported = identity && this.#turnExports.add(identity, turnRecordOf(run, error, this.log, this.now()))
    if (isCounted) exported?.(usage)
    return (charged) => {
      if (notice !== undefined) this.#notices.release(notice, { ...common, usage: charged, error })
      exported?.(charged)
      this.schedule()
    }
  }

  /** The most recently used first. `before`: the last one of the previous page. `origin`: filters by origin. */
  sessions(limit: number, before?: rpc.SessionPosition, origin?: string): rpc.SessionState[] {
    return this.log.list(limit, before, origin).map((record) => stateOf(record, this.runs))
  }

  transcript(session: string, after: number, limit: number) {
    const record = this.log.get(session)
    return record && { session: stateOf(record, this.runs), entries: this.log.transcript(session, after, limit) }
  }

  /** Cancels the turn of a session. Returns whether one was in progress. */
  stopSession(session: string): boolean {
    return this.#rescheduled(this.stopTurn(session))
  }

  deleteSession(session: string): "deleted" | "unknown" | "busy" {
    if (!this.log.get(session)) return "unknown"
    if (this.runs.ofSession(session)) return "busy"
    this.revokePermissions(session, null)
    this.log.delete(session)
    this.runs.unbind(session)
    return "deleted"
  }

  /** Undefined for an unknown session. */
  permissions(session: string): rpc.SessionPermission[] | undefined {
    if (!this.log.get(session)) return undefined
    const rules = new Memory(this.ctx.storage.sql).rules(this.#agentSession(session))
    const embedded = rules.map(([operation, rule]) => {
      return { operation, decision: rule === "always" ? ("allow" as const) : ("reject" as const) }
    })
    return [...embedded, ...this.standing.list(session)]
  }

  /** `operation` null: all permissions of the session. Returns the number removed. */
  revokePermissions(session: string, operation: string | null): number | undefined {
    if (!this.log.get(session)) return undefined
    const embedded = new Memory(this.ctx.storage.sql).deleteRules(this.#agentSession(session), operation)
    return embedded + this.standing.forget(session, operation)
  }

  #agentSession(session: string): string {
    return this.runs.session(session)?.acp ?? ""
  }

  schedules(): Schedule[] {
    return this.#schedules.list()
  }

  addSchedule(identity: rpc.InternIdentity, schedule: Schedule): Schedule | "too many" {
    this.runs.setFact("identity", identity)
    if (this.#schedules.list().length >= MAX_SCHEDULES) return "too many"
    return this.#rescheduled(this.#schedules.put(schedule))
  }

  changeSchedule(id: string, change: ScheduleChange): Schedule | undefined {
    return this.#rescheduled(this.#schedules.change(id, change))
  }

  deleteSchedule(id: string): boolean {
    return this.#rescheduled(this.#schedules.delete(id))
  }

  /** Starts a run now. */
  async runSchedule(id: string): Promise<Schedule | undefined> {
    const schedule = this.#schedules.get(id)
    return this.#rescheduled(schedule && (await this.#schedules.run(schedule)))
  }

  /** Context of all turns in progress: a call of a daemon's agent does not identify its turn. */
  runContext(): RunContext {
    const [run, ...others] = this.runs.open
    const limits = this.runs.open.flatMap((one) => this.#schedules.limitsOf(one.session, one))
    return {
      limits: [...new Map(limits.map((limit) => [limit.scope, limit])).values()],
      turn: run && others.length === 0 ? traceOfTurn(run) : null,
    }
  }

  async #spent(limit: Limit): Promise<number> {
    const { organizationId } = this.runs.fact("identity") ?? {}
    if (organizationId === undefined) return 0
    const [, standing] = await openLedger(this.env, organizationId).limitStatuses([limit])
    return nanoToUsd(standing?.spentNano ?? 0)
  }

  /** Context of the turn in a session of the agent. */
  protected contextOfSession(acp: string): RunContext {
    const run = this.runs.ofAcp(acp)
    const session = run?.session ?? this.runs.find(acp)?.id
    const limits = session === undefined ? [] : this.#schedules.limitsOf(session, run)
    return { limits, turn: run ? traceOfTurn(run) : null }
  }

  /** Files of the embedded agent. */
  files(): { path: string; bytes: number }[] {
    return this.#disk.list()
  }

  readFile(path: string): Uint8Array | undefined {
    return this.#disk.read(path)
  }

  /** Returns the reason if the file was not written. */
  writeFile(path: string, content: Uint8Array): string | undefined {
    return this.#disk.write(path, content)
  }

  deleteFile(path: string): boolean {
    const isThere = this.#disk.read(path) !== undefined
    this.#disk.remove(path)
    return isThere
  }

  /** Files with their content. For a daemon host: the initial files of its agent. */
  homePage(after: string): HomePage {
    return this.#disk.page(after)
  }

  hasInitialContent(): boolean {
    return this.runs.fact("isFurnished") === true
  }

  /**
   * Stores a part of the initial content of an intern. Ignored after the last part, so that a repeated creation does
   * not undo changes of the agent. Returns the reason if a file was not stored.
   */
  storeInitialContent(
    identity: rpc.InternIdentity,
    { files, schedules, isLast }: rpc.InitialContent,
  ): string | undefined {
    this.runs.setFact("identity", identity)
    if (this.hasInitialContent()) return undefined
    for (const { path, body, mode } of files) {
      const fault = this.#disk.write(path, body, mode)
      if (fault !== undefined) return fault
    }
    for (const schedule of schedules) this.#schedules.put(schedule)
    if (isLast) this.runs.setFact("isFurnished", true)
    return this.#rescheduled(undefined)
  }

  webhook(): InternWebhook | undefined {
    return this.#notices.webhook
  }

  /** Null removes it. */
  setWebhook(identity: rpc.InternIdentity, target: Pick<InternWebhook, "url" | "sealedSecret"> | null): void {
    this.runs.setFact("identity", identity)
    this.#rescheduled(this.#notices.setTarget(target))
  }

  #rescheduled<T>(value: T): T {
    this.schedule()
    return value
  }
}
