import { beforeEach, describe, expect, test } from "vitest"
import { Disk } from "../../src/interns/embedded/shell/disk.ts"
import { runShell } from "../../src/interns/embedded/shell/shell.ts"
import { sqlStorage } from "../support/sql-storage.ts"

let disk: Disk
beforeEach(() => (disk = new Disk(sqlStorage())))

/** Runs a command on the disk of the test. */
function run(command: string): Promise<string> {
  const fetch = () => Promise.reject(new Error("no network"))
  return runShell(disk, { command, env: { TOKEN: "placeholder" }, signal: AbortSignal.timeout(60_000), fetch })
}

/** Runs a program of several lines. */
const python = (source: string) => run(`cat > p.py <<'END'\n${source}\nEND\npython3 p.py`)

describe("python3", () => {
  test("takes its program from an argument, a file or a pipe", async () => {
    expect(await run(`python3 -c 'import sys; print(sys.argv, 2**64)' a "b c"`)).toBe(
      "['-c', 'a', 'b c'] 18446744073709551616\n",
    )
    expect(await run("echo 'import sys; print(sys.argv)' > p.py; python p.py x")).toBe("['p.py', 'x']\n")
    expect(await run("echo 'print(1)' | python3")).toBe("1\n")
    expect(await run("echo 'import sys; print(sys.argv)' | python3 - x")).toBe("['-', 'x']\n")
    expect(await run("python3 --version")).toMatch(/^MicroPython \d/)
  })

  test("reads and writes the shell's files and streams as bytes and text", async () => {
    await python(`import os
os.mkdir("out")
with open("out/a", "w") as f: f.write("wörld")
with open("out/a", "a") as f: f.write("!")
with open("/tmp/gone", "w") as f: f.write("x")
with open("out/b", "wb") as f: f.write(bytes(range(256)))
os.rename("out/b", "out/c")`)
    expect(disk.paths()).toEqual(["/home/intern/out/a", "/home/intern/out/c", "/home/intern/p.py"])
    expect(disk.read("/home/intern/out/c")).toEqual(Uint8Array.from({ length: 256 }, (_, index) => index))
    expect(await run("cat out/a; python3 -c 'print(open(\"out/a\").read())'")).toBe("wörld!wörld!\n")
    expect(await run('python3 -c \'import os; os.remove("out/a"); print(os.listdir("out"))\'; ls out')).toBe(
      "['c']\nc\n",
    )
    expect(await run("printf 'é\\nb' | python3 -c 'import sys; print(input(), len(sys.stdin.read()))' | cat")).toBe(
      "é 1\n",
    )
    expect(await run('cd out; ln -s c l; python3 -c \'f = open("l", "rb"); f.seek(250); print(f.read())\'')).toBe(
      "b'\\xfa\\xfb\\xfc\\xfd\\xfe\\xff'\n",
    )
  })

  test("keeps changes to renamed files when the program ends", async () => {
    await run("echo one > a; echo two > b")
    await python(`f = open("a", "r+")
f.write("ONE")
f.close()
import os
os.rename("b", "c")
os.rename("a", "b")`)
    expect(await run("cat b c; ls")).toBe("ONE\ntwo\nb\nc\np.py\n")
  })

  test("returns the exit code of the program, and keeps stdout and stderr apart", async () => {
    expect(await run("python3 -c 'import sys; sys.exit(3)'")).toBe("(exit code 3)")
    expect(await run("python3 -c 'import sys; sys.exit()' && echo fine")).toBe("fine\n")
    expect(await run("python3 -c 'raise SystemExit(\"told\")' 2>&1 >/dev/null | cat")).toBe("told\n")
    const print = "import sys; print(1); print(2, file=sys.stderr)"
    expect(await run(`python3 -c '${print}' 2>/dev/null`)).toBe("1\n")
    expect(await run("echo 'def f(): return {}[1]\n\nf()' > p.py; python3 p.py 2>&1 | cat")).toBe(
      'Traceback (most recent call last):\n  File "p.py", line 3, in <module>\n  File "p.py", line 1, in f\nKeyError: 1\n',
    )
    expect(await run("python3 -c 'import js' 2>&1 | cat")).toBe(
      "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nImportError: no module named 'js'\n",
    )
    expect(await run("python3 none.py")).toContain("can't open file 'none.py'")
    expect(await run("python3 -m http.server")).toContain("option -m is not supported")
  })

  test("has its own modules, those of the program's folder and the shell's variables", async () => {
    await run("mkdir lib; echo 'value = 7' > lib/other.py; echo 'import other; print(other.value)' > lib/main.py")
    expect(await run("python3 lib/main.py")).toBe("7\n")
    expect(await run(`python3 -c 'import json, re, hashlib, os; print(json.dumps([os.environ["TOKEN"]]))'`)).toBe(
      '["placeholder"]\n',
    )
    expect(await run('X=5 python3 -c \'import os; print(os.getenv("X"), os.getenv("MASTER_KEY"))\'')).toBe("5 None\n")
  })

  test("reports errors by number and name", async () => {
    const source = `import errno
try: open("none")
except OSError as e: print(e.errno == errno.ENOENT)
try: open("/home").read()
except OSError as e: print(e.errno == errno.EISDIR)
open("none")`
    expect(await python(source)).toContain("True\nTrue\nTraceback")
    expect(await python(source)).toContain("OSError: [Errno 2] ENOENT")
  })
})

describe("a hostile program", () => {
  test.each([
    ["a loop", "while True: pass"],
    ["a loop that catches everything", "while True:\n  try:\n    while True: pass\n  except BaseException: pass"],
    ["a number", "10**10**7"],
    ["one call of a builtin", "all(range(1, 10**9))"],
    ["copies of memory", "a = bytearray(1000000)\nwhile True: a[:] = a"],
    ["system calls", "import os\nwhile True: os.getcwd()"],
    ["files", "n = 0\nwhile True:\n  n += 1\n  try: open(str(n), 'w').close()\n  except OSError: pass"],
    ["an interrupted sleep", "import time\nwhile True: time.sleep(1000)"],
    [
      "a loop at its end",
      "class A:\n  def __del__(self):\n    while True: pass\na = A()\ndel a\nimport gc\ngc.collect()\nwhile True: pass",
    ],
  ])("is stopped at the step limit: %s", async (_, source) => {
    expect(await python(source)).toContain("python3: stopped after 50000000 steps. It is a limit of this shell.\n")
    expect(await run("echo alive")).toBe("alive\n")
  })

  test("shares one step limit between all programs of a command", async () => {
    const printed = await run("for i in 1 2 3; do python3 -c 'while True: pass'; done")
    expect(printed.match(/stopped after 50000000 steps/g)).toHaveLength(1)
    expect(printed.match(/have used all their steps/g)).toHaveLength(2)
  })

  test.each([
    ["a list", "a = []\nwhile True: a.append(bytearray(1000000))", "MemoryError"],
    ["a number of bytes", "bytearray(2**31 - 1)", "Error"],
    ["a string", "'a' * 10**9", "MemoryError"],
    ["calls", "def f(): return f()\nf()", "recursion depth"],
    ["a structure", "a = []\na.append(a)\nstr(a)", "recursion depth"],
    ["a pattern", "import re\nprint(re.match('(a*)*b', 'a' * 5000))", "ecursion"],
    ["output", "while True: print('x' * 1000)", "stopped after 1048576 bytes of output"],
    ["a file", "f = open('a', 'w')\ntext = 'x' * 100000\nwhile True: f.write(text)", "OSError: 28"],
  ])("is stopped at another limit: %s", async (_, source, printed) => {
    const output = await run(`cat > p.py <<'END'\n${source}\nEND\npython3 p.py 2>&1 | tail -c 300`)
    expect(output).toContain(printed)
    expect(await run("echo alive")).toBe("alive\n")
  })

  test.each([
    ["import js", "ImportError"],
    ["import js.globalThis", "ImportError"],
    ["from js import globalThis", "ImportError"],
    ["import jsffi", "ImportError"],
    ["__import__('js').globalThis", "ImportError"],
    // Bypasses the import function with the check, down to the module loader.
    [
      "import builtins, sys\nexec('del builtins.__import__')\nimport js\nprint(js.globalThis)",
      "JavaScript is not available",
    ],
    [
      "import builtins\ndel builtins.__import__\nimport jsffi\nprint(jsffi.create_proxy(print))",
      "JavaScript is not available",
    ],
    ["import builtins\ndel builtins.__import__\nimport jsffi\nprint(jsffi.to_js({}))", "JavaScript is not available"],
    [
      "import builtins\ndel builtins.__import__\nimport jsffi\nprint(jsffi.JsProxy)\njsffi.JsProxy(0).globalThis",
      "Error",
    ],
    ["import builtins\ndel builtins.__import__\nimport jsffi\nraise jsffi.JsException(1)", ""],
    ["import asyncio\nasync def f(): await asyncio.sleep(1)\nasyncio.run(f())", ""],
    ["open('/dev/tcp/example.com/80')", "Errno 2"],
    ["open('/proc/self/environ')", "Errno 2"],
    ["open('/etc/passwd')", "Errno 2"],
    ["open('../../../../../etc/passwd')", "Errno 2"],
    ["import socket", "ImportError"],
    // It can corrupt only its own memory.
    [
      "import uctypes\nmemory = uctypes.bytearray_at(1024, 8000000)\nfor at in range(0, 8000000, 997): memory[at] = 1",
      "",
    ],
    ["import uctypes\nprint(bytes(uctypes.bytearray_at(2**31 - 1000000, 16)))", "python3: "],
    ["import os\nos.mount(os.VfsPosix('/'), '/x')\nprint(os.listdir('/x/etc'))", "Errno 2"],
  ])("has no access to the host: %s", async (source, printed) => {
    const before = Object.keys(globalThis).toSorted()
    const output = await run(`cat > p.py <<'END'\n${source}\nEND\npython3 p.py 2>&1 | cat`)
    expect(output).toContain(printed)
    expect(output).not.toMatch(/\[object|function \w*\(|workerd|node:/)
    expect(Object.keys(globalThis).toSorted()).toEqual(before)
  })

  test("leaves no state for the next one", async () => {
    await run("python3 -c 'import builtins, sys; builtins.left = 1; sys.modules[\"json\"] = 1'")
    expect(await run("python3 -c 'import json; print(json.dumps(1)); left' 2>&1 | tail -n 1")).toContain("NameError")
  })
})
