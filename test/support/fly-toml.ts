import * as z from "zod"

const processes = z.array(z.string()).min(1).optional()
const size = z.union([z.string().regex(/^\d+ ?(?:mb|gb)$/i), z.int().positive()])
const duration = z.string().regex(/^\d+[smh]$/)

const mount = z.strictObject({
  source: z.string().regex(/^[a-z0-9_]{1,30}$/),
  destination: z.string().regex(/^\/.+$/),
  processes,
  initial_size: size.optional(),
  snapshot_retention: z.int().min(1).max(60).optional(),
  scheduled_snapshots: z.boolean().optional(),
  auto_extend_size_threshold: z.int().min(1).max(100).optional(),
  auto_extend_size_increment: size.optional(),
  auto_extend_size_limit: size.optional(),
})

const vm = z.strictObject({
  size: z.string().optional(),
  memory: size.optional(),
  cpus: z.literal([1, 2, 4, 8, 16]).optional(),
  cpu_kind: z.enum(["shared", "performance"]).optional(),
  kernel_args: z.string().optional(),
  host_dedication_id: z.string().optional(),
  persist_rootfs: z.enum(["never", "restart", "always"]).optional(),
  processes,
})

/**
 * A `fly.toml` by https://fly.io/docs/reference/configuration/, without the sections of services, checks and files: an app
 * without them cannot be reached from outside.
 */
export const FlyToml = z.strictObject({
  app: z.string().regex(/^[a-z0-9-]+$/),
  primary_region: z.string().regex(/^[a-z]{3}$/),
  kill_signal: z.enum(["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGKILL", "SIGSTOP"]).optional(),
  /** Seconds. */
  kill_timeout: z.int().min(1).max(300).optional(),
  swap_size_mb: z.int().positive().optional(),
  console_command: z.string().optional(),
  build: z
    .strictObject({
      builder: z.string(),
      buildpacks: z.array(z.string()),
      image: z.string(),
      dockerfile: z.string(),
      ignorefile: z.string(),
      "build-target": z.string(),
      args: z.record(z.string(), z.string()),
    })
    .partial(),
  deploy: z
    .strictObject({
      strategy: z.enum(["rolling", "immediate", "canary", "bluegreen"]),
      max_unavailable: z.number().positive(),
      release_command: z.string(),
      release_command_timeout: duration,
      wait_timeout: duration,
    })
    .partial(),
  env: z.record(z.string().regex(/^(?!FLY_)/), z.string()),
  mounts: z.array(mount),
  restart: z.array(
    z.strictObject({
      policy: z.enum(["always", "never", "on-failure"]),
      retries: z.int().min(0).optional(),
      processes,
    }),
  ),
  vm: z.array(vm),
})
