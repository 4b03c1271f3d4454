import { type Disk } from "./shell/disk.ts"
import { HOME, resolvePath } from "./home.ts"
import { truncate, runShell } from "./shell/shell.ts"
import type { ShellFetch } from "./shell/shell-fetch.ts"

/** A call by the model. `arguments` should be JSON, but may be invalid. */
export type ToolCall = { id: string; function: { name: string; arguments: string } }

export type ToolDeps = {
  disk: Disk
  /** Environment of the shell. */
  env: Record<string, string>
  fetch: ShellFetch
  signal: AbortSignal
  /** Saves a file for download; returns its id. */
  publish: (filename: string, content: Uint8Array) => Promise<string>
}

type Tool = {
  description: string
  parameters: Record<string, unknown>
  /** Whether the tool needs permission. */
  needsPermission: boolean
  run: (input: Record<string, unknown>, deps: ToolDeps) => Promise<string> | string
}

const textField = (description: string) => ({ type: "string", description })
const schema = (properties: Record<string, unknown>, required: string[]) => {
  return { type: "object", properties, required, additionalProperties: false }
}

const tools: Record<string, Tool> = {
  shell: {
    description: `Runs a command in a POSIX-like shell whose folder is ${HOME}. Standard tools, jq, rg, patch, curl and git (https only) are there; programs cannot be installed.`,
    parameters: schema({ command: textField("The command line.") }, ["command"]),
    needsPermission: true,
    run: ({ command }, { disk, env, signal, fetch }) =>
      runShell(disk, { command: text(command, "command"), env, signal, fetch }),
  },
  read_file: {
    description: `Reads a text file below ${HOME}.`,
    parameters: schema({ path: textField("Its path.") }, ["path"]),
    needsPermission: false,
    run: ({ path }, { disk }) => {
      const found = disk.read(toAbsolute(path))
      return found ? truncate(new TextDecoder().decode(found)) : "There is no such file."
    },
  },
  write_file: {
    description: `Writes a text file below ${HOME}, in the place of one that is there.`,
    parameters: schema({ path: textField("Its path."), content: textField("All of its text.") }, ["path", "content"]),
    needsPermission: false,
    run: ({ path, content }, { disk }) => {
      return disk.write(toAbsolute(path), new TextEncoder().encode(text(content, "content"))) ?? "Written."
    },
  },
  publish_file: {
    description: `Puts a copy of a file below ${HOME} where the person can download it. Tell them the returned id.`,
    parameters: schema({ path: textField("Its path.") }, ["path"]),
    needsPermission: false,
    run: async ({ path }, { disk, publish }) => {
      const from = toAbsolute(path)
      const found = disk.read(from)
      if (!found) return "There is no such file."
      return `Published: GET /files/${await publish(from, found)}/content`
    },
  },
  list_files: {
    description: `Lists all files below ${HOME}.`,
    parameters: schema({}, []),
    needsPermission: false,
    run: (_, { disk }) => truncate(disk.paths().join("\n")) || "There are no files.",
  },
}

/** Tool definitions for chat requests. */
export const TOOL_DEFINITIONS = Object.entries(tools).map(([name, { description, parameters }]) => {
  return { type: "function", function: { name, description, parameters } }
})

export function needsPermission({ function: { name } }: ToolCall): boolean {
  return tools[name]?.needsPermission ?? false
}

export function isBuiltIn({ function: { name } }: ToolCall): boolean {
  return Object.hasOwn(tools, name)
}

/** Runs a tool call. Failures are returned as text to the model. */
export async function runTool(call: ToolCall, deps: ToolDeps): Promise<string> {
  const { name, arguments: json } = call.function
  const tool = tools[name]
  if (!tool) return `There is no tool ${name}. There are ${Object.keys(tools).join(", ")}.`
  try {
    return await tool.run(JSON.parse(json === "" ? "{}" : json) as Record<string, unknown>, deps)
  } catch (cause) {
    return `The tool failed: ${cause instanceof Error ? cause.message.slice(0, 500) : "for an unknown reason"}`
  }
}

function toAbsolute(path: unknown): string {
  const found = resolvePath(text(path, "path"))
  if (found === undefined || found === HOME) throw new Error(`path: must be of a file below ${HOME}.`)
  return found
}

function text(value: unknown, name: string): string {
  if (typeof value === "string") return value
  throw new Error(`${name}: must be text.`)
}
