import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { folderIn, prepare } from "../../src/daemon/files/folder.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** A user that owns nothing. */
const AGENT = 65_533
const isRoot = process.getuid?.() === 0

function newFolder() {
  const root = mkdtempSync(path.join(tmpdir(), "gateway-folder-"))
  onTestFinished(() => removeFolder(root))
  const folder = folderIn(path.join(root, "intern"))
  const outside = path.join(root, "outside")
  mkdirSync(outside)
  return { folder, outside }
}

const filesOf = ({ home, work }: ReturnType<typeof folderIn>) => ({
  [path.join(home, ".zshenv")]: "export A='1'\n",
  [path.join(home, ".config/tool/deep/settings.json")]: "{}",
  [path.join(work, "AGENTS.md")]: "Be brief.\n",
})

describe("the folder of an agent", () => {
  test("has its files, and keeps those that the daemon does not write", async () => {
    const { folder } = newFolder()
    await prepare(folder, filesOf(folder), undefined)
    await prepare(folder, { [path.join(folder.work, "AGENTS.md")]: "Be exact.\n" }, undefined)
    expect(readFileSync(path.join(folder.work, "AGENTS.md"), "utf8")).toBe("Be exact.\n")
    expect(readFileSync(path.join(folder.home, ".config/tool/deep/settings.json"), "utf8")).toBe("{}")
  })

  test.skipIf(!isRoot)("belongs to the agent's user with all its folders and files", async () => {
    const { folder } = newFolder()
    await prepare(folder, filesOf(folder), AGENT)
    const below = [".", "work", "home", "home/tmp", "home/.config", "home/.config/tool", "home/.config/tool/deep"]
    const files = ["home/.zshenv", "work/AGENTS.md", "home/.config/tool/deep/settings.json"]
    const owners = [...below, ...files].map((name) => lstatSync(path.join(folder.dir, name)).uid)
    expect(owners).toEqual(owners.map(() => AGENT))
  })

  test.skipIf(!isRoot).each(["home", "work", "home/.config", "home/.config/tool"])(
    "is not written through a link that the agent put in place of %s",
    async (name) => {
      const { folder, outside } = newFolder()
      await prepare(folder, filesOf(folder), AGENT)
      const replaced = path.join(folder.dir, name)
      renameSync(replaced, `${replaced}.former`)
      symlinkSync(outside, replaced)
      const written = prepare(folder, filesOf(folder), AGENT)
      await expect(written).rejects.toThrow("Links are not followed")
      expect(existsSync(path.join(outside, ".zshenv"))).toBe(false)
      expect(existsSync(path.join(outside, "AGENTS.md"))).toBe(false)
      expect(lstatSync(outside).uid).toBe(0)
    },
  )

  test.skipIf(!isRoot)("replaces a link in place of a file", async () => {
    const { folder, outside } = newFolder()
    mkdirSync(folder.home, { recursive: true })
    symlinkSync(path.join(outside, "target"), path.join(folder.home, ".zshenv"))
    await prepare(folder, filesOf(folder), AGENT)
    expect(readFileSync(path.join(folder.home, ".zshenv"), "utf8")).toBe("export A='1'\n")
    expect(existsSync(path.join(outside, "target"))).toBe(false)
  })
})
