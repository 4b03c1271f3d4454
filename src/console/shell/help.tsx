import { Button } from "../ui/button.tsx"
import { Dialog } from "../ui/dialog.tsx"
import { closeDialog, SHORTCUTS } from "./keyboard.ts"

export function Help() {
  return (
    <Dialog title="Keyboard" onClose={closeDialog}>
      <dl class="facts">
        {SHORTCUTS.map(([keys, effect]) => (
          <>
            <dt>
              {keys.split(", ").map((key) => (
                <>
                  <kbd>{key}</kbd>{" "}
                </>
              ))}
            </dt>
            <dd>{effect}</dd>
          </>
        ))}
      </dl>
      <footer>
        <Button kind="primary" onClick={closeDialog}>
          Close
        </Button>
      </footer>
    </Dialog>
  )
}
