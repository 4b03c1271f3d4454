import { toast } from "../../state/toasts.ts"

/** Copies the text. False, with a message, if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Absent on pages without TLS.
    if (navigator.clipboard === undefined) copySelected(text)
    else await navigator.clipboard.writeText(text)
    return true
  } catch {
    toast("bad", "The browser did not copy it. Select the text and copy it by hand.")
    return false
  }
}

function copySelected(text: string): void {
  const area = document.createElement("textarea")
  area.value = text
  // Inside an open dialog: everything outside is inert.
  const parent = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body
  parent.append(area)
  area.select()
  const isCopied = document.execCommand("copy")
  area.remove()
  if (!isCopied) throw new Error("The browser does not allow it.")
}
