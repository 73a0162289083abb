import { useState } from "preact/hooks";
import { Notice } from "../parts/states.tsx";
import { isReadingPublic, useKey } from "../service/session.ts";

/** Asks for a key, or for another one after the service refused the last. */
export function KeyForm({ isRefused }: { readonly isRefused: boolean }) {
  const [value, setValue] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (value.trim() !== "") useKey(value.trim());
  };
  return (
    <div class="welcome">
      <h1>Every trade, as the chain has it</h1>
      <p class="lead">
        Live prices, order books and the full history of on-chain prediction markets, from your own
        service.
      </p>
      {isRefused && (
        <Notice title="The service refused the key" tone="warning">
          It may be mistyped, expired, revoked, or limited to other IP addresses.
        </Notice>
      )}
      <form onSubmit={submit}>
        <label for="key">API key</label>
        <input
          id="key"
          name="key"
          placeholder="ow_read_…"
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => setValue(currentTarget.value)}
        />
        <button class="primary">Open</button>
      </form>
      {isReadingPublic.value && (
        <button type="button" onClick={() => useKey(null)}>
          Continue without a key
        </button>
      )}
      <p class="dim">
        The key stays in this tab and is removed when the tab closes. The operator makes keys with{" "}
        <code>oddwire keys create</code>, or opens reading to everyone with{" "}
        <code>ODDWIRE_PUBLIC_READ=1</code>.
      </p>
    </div>
  );
}
