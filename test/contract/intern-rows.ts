import type { ContractRow } from "./rows.ts"

export const internRows: readonly ContractRow[] = [
  {
    section: "Intern chat",
    promise: "The stream is chunks and ends with the final chunk, the session id and the usage.",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "streams what the agent says and thinks, and ends with its usage",
    },
  },
  {
    section: "Intern chat",
    promise: "A question is one tool call; the run pauses and goes on with the answer.",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "pauses the run, is answered, and the run goes on where it was",
    },
  },
  {
    section: "Intern chat",
    promise: "Without an approval mode the run consents on the caller's behalf.",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "self-drive consents on the caller's behalf, with the narrowest consent there is",
    },
  },
  {
    section: "Intern chat",
    promise: "A question about a permission offers its options; a form takes JSON of its schema.",
    proof: { file: "test/interns/runs.worker.test.ts", name: "a form is answered as JSON that fits its schema" },
  },
  {
    section: "Intern chat",
    promise: "Rejected answers are told by reason and do not move the deadline.",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "unknown, of another session, wrong, given twice: each says what it is, and moves no deadline",
    },
  },
  {
    section: "Intern chat",
    promise: "A run whose deadline passes is cancelled.",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "late: the run is cancelled by its deadline, which a rejected answer did not move",
    },
  },
  {
    section: "Intern chat",
    promise: "A client that leaves after a question leaves the run waiting.",
    proof: { file: "test/interns/runs.worker.test.ts", name: "after the question was put: the run waits on" },
  },
  {
    section: "Intern chat",
    promise: "A client that leaves while the run streams cancels it.",
    proof: { file: "test/interns/runs.worker.test.ts", name: "while the run streams: it is cancelled" },
  },
  {
    section: "Intern chat",
    promise: "A connection that breaks without confirmation is stream_severed.",
    proof: { file: "test/interns/runs.worker.test.ts", name: "an agent that does not confirm in time: stream_severed" },
  },
  {
    section: "Intern chat",
    promise: "A run that its intern ends is told as run_ended.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "suspending cancels what runs: who reads is told run_ended",
    },
  },
  {
    section: "Intern chat",
    promise: "A prompt while the run streams steers it.",
    proof: { file: "test/interns/runs.worker.test.ts", name: "a prompt while it streams steers the turn: 202" },
  },
  {
    section: "Intern chat",
    promise: "A keepalive comment fills silence and notices a client that left.",
    proof: {
      file: "test/runtime/interns.test.ts",
      name: "a client that leaves during a silent command is noticed by a keepalive, and the command stops",
    },
  },
  {
    section: "Intern errors",
    promise: "attachment_failed",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "more was said than is kept: 410 attachment_failed, and a cancel frees the session",
    },
  },
  {
    section: "Intern errors",
    promise: "busy",
    proof: { file: "test/interns/runs.worker.test.ts", name: "more open runs than an intern holds: 503 busy" },
  },
  {
    section: "Intern errors",
    promise: "rate_limited",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "more turns a minute than an intern takes: 429 rate_limited",
    },
  },
  {
    section: "Intern errors",
    promise: "timeout",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "a turn that takes longer than its time is cancelled, and says so",
    },
  },
  {
    section: "Intern errors",
    promise: "intern_unreachable",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "is not there: 502 intern_unreachable, once the patience is over",
    },
  },
  {
    section: "Intern errors",
    promise: "intern_not_running",
    proof: { file: "test/interns/lifecycle.worker.test.ts", name: "of one that does not run: 409 intern_not_running" },
  },
  {
    section: "Intern errors",
    promise: "name_taken",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "a name is taken once per creator in a workspace: 409 name_taken",
    },
  },
  {
    section: "Intern errors",
    promise: "payload_too_large, unsupported_media_type, invalid_body",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "a body that is too large or not JSON is refused with its reason",
    },
  },
  {
    section: "Intern errors",
    promise: "bad_request, interaction_unknown, interaction_not_pending",
    proof: {
      file: "test/interns/runs.worker.test.ts",
      name: "unknown, of another session, wrong, given twice: each says what it is, and moves no deadline",
    },
  },
  {
    section: "Interns",
    promise: "A changed model takes effect at the next provision.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "a changed model takes effect at the next provision",
    },
  },
  {
    section: "Interns",
    promise: "Daemon access is revealed for a running intern, not cached, and logged.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "of a running intern is revealed, never cached, and every reveal is in the audit log",
    },
  },
  {
    section: "Interns",
    promise: "The status becomes destroy_failed where a daemon does not confirm.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "a daemon that does not confirm the archive keeps its intern: destroy_failed, until the loss is acknowledged",
    },
  },
  {
    section: "Interns",
    promise: "Keys of the workspace see the intern; others and callers outside the programme get 404.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "keys of its workspace do; others, and callers outside the programme, get 404",
    },
  },
  {
    section: "Interns",
    promise: "Regional hostnames serve no intern, vault or daemon route.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "on a regional hostname no intern, vault or daemon route is served",
    },
  },
  {
    section: "Interns",
    promise: "The key of somebody who left the organization talks to no intern.",
    proof: {
      file: "test/interns/lifecycle.worker.test.ts",
      name: "who made the key and left the organization talks to no intern: 403",
    },
  },
]
