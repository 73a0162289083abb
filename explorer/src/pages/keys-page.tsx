import { useState } from "preact/hooks";
import type { CreateKey, IssuedKey, Key } from "../../../clients/typescript/src/api.ts";
import { plural } from "../format/numbers.ts";
import { toMilliseconds } from "../format/times.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Panel } from "../parts/panel.tsx";
import { Notice, Shown } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { toFailure } from "../service/failure.ts";
import {
  askForKey,
  client,
  isOwnKey,
  isPublic,
  replaceKey,
  scope,
  signOut,
} from "../service/session.ts";
import { useResource } from "../service/use-resource.ts";

const keysMax = 1000;
const refreshMs = 15_000;

/** The keys of the service. They are shown to an admin key only. */
export function KeysPage() {
  const isAdmin = scope.value === "admin";
  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
        {isPublic.value && (
          <button type="button" class="small" onClick={() => askForKey()}>
            Use a key
          </button>
        )}
      </div>
      {isAdmin ? (
        <Keys />
      ) : (
        <Notice
          title={isPublic.value ? "No key is in use" : `This key has the scope ${scope.value}`}
        >
          Keys are managed with an admin key. The operator creates one with{" "}
          <code>oddwire keys create --scope admin</code>.
        </Notice>
      )}
    </>
  );
}

function Keys() {
  const [version, setVersion] = useState(0);
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const keys = useResource(
    `keys ${version}`,
    async (using) => {
      const all: Key[] = [];
      for await (const key of using.keys({ limit: 100 })) {
        all.push(key);
        if (all.length >= keysMax) break;
      }
      return all;
    },
    { everyMs: refreshMs },
  );
  /** Runs an action on keys. Then it reads the list again, or shows the failure. Returns whether it succeeded. */
  const attempt = async (action: () => Promise<void>): Promise<boolean> => {
    setFailure(null);
    try {
      await action();
    } catch (thrown) {
      setFailure(toFailure(thrown).message);
      return false;
    }
    setVersion(version + 1);
    return true;
  };
  return (
    <>
      {issued !== null && <KeyValue of={issued} />}
      {failure !== null && (
        <Notice title="That did not work" tone="warning">
          {failure}
        </Notice>
      )}
      <NewKey
        onCreate={async (body) =>
          attempt(async () => {
            setIssued(await client.value.createKey(body));
          })
        }
      />
      <Panel title="All keys" requests={[{ title: "Keys", path: "/v1/keys" }]}>
        <Shown of={keys} what="list of keys">
          {(all) => (
            <KeyTable
              keys={all}
              attempt={attempt}
              onIssued={setIssued}
              onRevoked={(id) => setIssued((current) => (current?.id === id ? null : current))}
            />
          )}
        </Shown>
      </Panel>
    </>
  );
}

function KeyValue({ of: { name, key } }: { readonly of: IssuedKey }) {
  return (
    <Notice title={`Copy the key for “${name}” now. You won't see it again.`} tone="good">
      <p class="secret">
        <code>{key}</code> <CopyButton text={key} label="Copy the key" />
      </p>
    </Notice>
  );
}

const expiries = [
  ["", "never"],
  ["1", "in a day"],
  ["7", "in a week"],
  ["30", "in 30 days"],
  ["365", "in a year"],
] as const;
const dayMs = 86_400_000;

function NewKey({
  onCreate,
}: {
  readonly onCreate: (body: CreateKey["body"]) => Promise<boolean>;
}) {
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    const text = (name: string): string => {
      const value = fields.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    const ips = text("ips")
      .split(/[\s,]+/)
      .filter((ip) => ip !== "");
    const days = Number(text("expiry"));
    const isCreated = await onCreate({
      name: text("name"),
      scope: text("scope") as Key["scope"],
      ...(days === 0 ? {} : { expires_at: new Date(Date.now() + days * dayMs).toISOString() }),
      ...(ips.length === 0 ? {} : { allowed_ips: ips }),
    });
    // After a refusal the entries stay, to be corrected.
    if (isCreated) form.reset();
  };
  return (
    <Panel title="New key">
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <label>
          Name
          <input name="name" required maxLength={100} autocomplete="off" />
        </label>
        <label>
          Scope
          <select name="scope">
            <option value="read">Read</option>
            <option value="write">Write: higher limits</option>
            <option value="admin">Admin: manages keys</option>
          </select>
        </label>
        <label>
          Expires
          <select name="expiry">
            {expiries.map(([days, words]) => (
              <option key={days} value={days}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          Only from these IPs
          <input name="ips" placeholder="such as 10.0.0.0/8" autocomplete="off" />
        </label>
        <button class="primary">Create key</button>
      </form>
    </Panel>
  );
}

type Action = { readonly kind: "rotate" | "revoke"; readonly key: Key };

function KeyTable(props: {
  readonly keys: readonly Key[];
  readonly attempt: (action: () => Promise<void>) => Promise<boolean>;
  readonly onIssued: (issued: IssuedKey) => void;
  readonly onRevoked: (id: string) => void;
}) {
  const [requested, setRequested] = useState<Action | null>(null);
  const act = ({ kind, key }: Action): void => {
    const isOwn = isOwnKey(key.prefix);
    setRequested(null);
    void props.attempt(async () => {
      if (kind === "revoke") {
        await client.value.revokeKey(key.id);
        props.onRevoked(key.id);
        if (isOwn) signOut();
        return;
      }
      const rotated = await client.value.rotateKey(key.id);
      props.onIssued(rotated);
      if (isOwn) replaceKey(rotated.key);
    });
  };
  return (
    <>
      <ul class="keys" aria-label="Keys">
        {props.keys.map((key) => (
          <KeyRow key={key.id} of={key} onAct={(kind) => setRequested({ kind, key })} />
        ))}
      </ul>
      {requested !== null && (
        <Confirmation
          action={requested}
          onYes={() => act(requested)}
          onClose={() => setRequested(null)}
        />
      )}
    </>
  );
}

function KeyRow(props: { readonly of: Key; readonly onAct: (kind: Action["kind"]) => void }) {
  const { of: key, onAct } = props;
  const isActive = key.status === "active";
  return (
    <li class={isActive ? "" : "ended"}>
      <div>
        <b>{key.name}</b> <span class={`badge ${key.scope}`}>{key.scope}</span>{" "}
        <span class={isActive ? "up" : "dim"}>{key.status}</span>
        {isActive && isOwnKey(key.prefix) && (
          <>
            {" "}
            <span class="badge own">in use here</span>
          </>
        )}
        <p class="dim">
          <code>{key.prefix}…</code> ·{" "}
          <KeyTime name="last used" at={key.last_used_at} never="never used" /> ·{" "}
          {plural(key.request_count, "request")} ·{" "}
          <KeyTime name="expires" at={key.expires_at} never="never expires" />
          {key.allowed_ips.length > 0 && ` · only from ${key.allowed_ips.join(", ")}`}
        </p>
      </div>
      {isActive && (
        <div class="row">
          <button type="button" aria-label={`Rotate ${key.name}`} onClick={() => onAct("rotate")}>
            Rotate
          </button>
          <button
            type="button"
            class="danger"
            aria-label={`Revoke ${key.name}`}
            onClick={() => onAct("revoke")}
          >
            Revoke
          </button>
        </div>
      )}
    </li>
  );
}

function KeyTime(props: {
  readonly name: string;
  readonly at: string | null;
  readonly never: string;
}) {
  const { name, at, never } = props;
  if (at === null) return <>{never}</>;
  return (
    <>
      {name} <Time at={toMilliseconds(at)} />
    </>
  );
}

function Confirmation(props: {
  readonly action: Action;
  readonly onYes: () => void;
  readonly onClose: () => void;
}) {
  const { kind, key } = props.action;
  const isOwn = isOwnKey(key.prefix);
  const title = kind === "revoke" ? `Revoke ${key.name}?` : `Give ${key.name} a new value?`;
  return (
    <Dialog title={title} onClose={props.onClose}>
      <p>
        {kind === "revoke"
          ? "The key stops working immediately and cannot be restored. Its streams are closed."
          : "The old value stops working immediately. The new one appears only once."}
      </p>
      {isOwn && (
        <p class="warn">
          <strong>This is the key that this page uses.</strong>{" "}
          {kind === "revoke"
            ? "You will need another admin key to continue."
            : "Open tabs continue with the new value."}
        </p>
      )}
      <div class="row">
        <button type="button" class="danger" onClick={props.onYes}>
          {kind === "revoke" ? "Revoke" : "Rotate"}
        </button>
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
