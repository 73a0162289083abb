import { useState } from "preact/hooks";
import { Notice } from "../parts/states.tsx";
import { isReadingPublic, readPublic, useKey } from "../service/session.ts";

/** Asks for a key, or for another one after the service refused the last. */
export function KeyForm({ isRefused }: { readonly isRefused: boolean }) {
  const [value, setValue] = useState("");
  const [isRemembered, setRemembered] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (value.trim() !== "") useKey(value.trim(), { isRemembered });
  };
  return (
    <div class="welcome">
      <h1>Every Polymarket trade, straight from the chain</h1>
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
        <label class="check">
          <input
            type="checkbox"
            name="remember"
            checked={isRemembered}
            onChange={({ currentTarget }) => setRemembered(currentTarget.checked)}
          />
          Remember on this device
        </label>
      </form>
      {isReadingPublic.value && (
        <button type="button" onClick={readPublic}>
          Continue without a key
        </button>
      )}
      <p class="dim">
        Open tabs share the key, which is forgotten when the last one closes unless it is
        remembered. The operator creates keys with <code>oddwire keys create</code>, or allows
        reading without a key with <code>ODDWIRE_PUBLIC_READ=1</code>.
      </p>
    </div>
  );
}
