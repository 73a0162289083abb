import { useEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import { findAnything } from "../service/find-anything.ts";
import type { Found } from "../service/found-markets.ts";
import { access } from "../service/session.ts";

const pauseMs = 120;

/** Searches everything that has a page. It works with the keyboard alone. */
export function SearchBox() {
  const [text, setText] = useState("");
  const { found, isSearching } = useFound(text);
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const isShown = isOpen && text.trim() !== "";
  const open = (to: string): void => {
    setOpen(false);
    setText("");
    navigate(to);
  };
  const take = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      setOpen(false);
      input.current?.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      setAt((at + by + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      const list = paths.search(text.trim());
      // The list still shows results of an earlier text, so search for the typed text first.
      if (isSearching) void findAnything(text.trim()).then(([best]) => open(best?.path ?? list));
      else open(found[at]?.path ?? list);
    }
  };
  return (
    <div class="search" role="search">
      <input
        ref={input}
        id="search"
        type="search"
        role="combobox"
        list={undefined}
        aria-expanded={isShown}
        aria-controls="found"
        aria-autocomplete="list"
        aria-label="Search markets, wallets, transactions"
        aria-activedescendant={isShown && found.length > 0 ? `found-${at}` : undefined}
        placeholder="Search markets, wallets, transactions"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        disabled={access.value.state !== "open"}
        value={text}
        onKeyDown={take}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      {isShown && <FoundList found={found} at={at} isSearching={isSearching} onOpen={open} />}
    </div>
  );
}

function FoundList(props: {
  readonly found: readonly Found[];
  readonly at: number;
  readonly isSearching: boolean;
  readonly onOpen: (path: string) => void;
}) {
  const { found, at, isSearching, onOpen } = props;
  if (found.length === 0) {
    return (
      <div class="found" id="found" role="status">
        <p class="dim">
          {isSearching
            ? "Searching…"
            : "Nothing matches. Try fewer words, or paste an id, a slug or a hash."}
        </p>
      </div>
    );
  }
  return (
    <ul class="found" id="found" role="listbox" aria-label="Results">
      {found.map(({ path, title, kind, about, detail, isOutcome }, index) => (
        <li
          key={path}
          class={isOutcome === true ? "outcome-of-event" : ""}
          id={`found-${index}`}
          role="option"
          aria-selected={index === at}
          onMouseDown={(event) => {
            event.preventDefault();
            onOpen(path);
          }}
        >
          <span class="kind">{kind}</span>
          <span>
            <span class="title">{title}</span>
            {about !== "" && <span class="sub">{about}</span>}
          </span>
          <span class="num nowrap">{detail}</span>
        </li>
      ))}
    </ul>
  );
}

function useFound(text: string): { found: readonly Found[]; isSearching: boolean } {
  const [state, setState] = useState({ of: "", found: [] as readonly Found[] });
  const requested = text.trim();
  useEffect(() => {
    if (requested === "") return;
    const left = new AbortController();
    const search = async (): Promise<void> => {
      const found = await findAnything(requested);
      if (!left.signal.aborted) setState({ of: requested, found });
    };
    const timer = setTimeout(() => void search(), pauseMs);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [requested]);
  return requested === ""
    ? { found: [], isSearching: false }
    : { found: state.found, isSearching: state.of !== requested };
}
