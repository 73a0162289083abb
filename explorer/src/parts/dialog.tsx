import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A window above the page; Escape and a click outside close it. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  const closeOutside = (event: MouseEvent): void => {
    if (event.target === element.current) props.onClose();
  };
  return (
    <dialog ref={element} aria-label={props.title} onClose={props.onClose} onClick={closeOutside}>
      <div class="dialog-body">
        <header>
          <h2>{props.title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={props.onClose}>
            ✕
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
