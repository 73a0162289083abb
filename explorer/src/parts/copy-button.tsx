import { useState } from "preact/hooks";

const shownMs = 1500;

/** Copies a text to the clipboard and confirms it. */
export function CopyButton(props: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(props.text);
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <button type="button" class="quiet small" aria-label={props.label} onClick={() => void copy()}>
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}

/**
 * Copies a text. The clipboard of the browser works only over https and on loopback; elsewhere a selection is copied.
 */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
