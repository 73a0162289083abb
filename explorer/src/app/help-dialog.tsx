import { Dialog } from "../parts/dialog.tsx";
import { isHelpOpen, shortcuts } from "./shortcuts.ts";

function close(): void {
  isHelpOpen.value = false;
}

/** The dialog that lists the keyboard shortcuts. */
export function HelpDialog() {
  return (
    <Dialog title="Keyboard" onClose={close}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
