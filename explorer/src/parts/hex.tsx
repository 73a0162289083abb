import { short } from "../format/numbers.ts";
import { chainPage, paths } from "../routing/paths.ts";
import { chainId } from "../service/session.ts";
import { CopyButton } from "./copy-button.tsx";

/** An account, as a link to its page. */
export function Wallet({ address }: { readonly address: string }) {
  return (
    <a class="mono" href={paths.wallet(address)} title={`Wallet ${address}`}>
      {short(address)}
    </a>
  );
}

/** A transaction, as a link to its page. */
export function Transaction({ hash }: { readonly hash: string }) {
  return (
    <a class="mono" href={paths.transaction(hash)} title={`Transaction ${hash}`}>
      {short(hash)}
    </a>
  );
}

/** An order, as a link to its page. */
export function Order({ hash }: { readonly hash: string | null }) {
  if (hash === null) return <span class="dim">–</span>;
  return (
    <a class="mono" href={paths.order(hash)} title={`Order ${hash}`}>
      {short(hash)}
    </a>
  );
}

/** A full id with a button to copy it. */
export function FullId({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <span class="full-id">
      <code>{id}</code> <CopyButton text={id} label={`Copy ${label}`} />
    </span>
  );
}

/** A link to the chain explorer; nothing on a chain that has none. */
export function ChainLink(props: {
  readonly kind: "tx" | "address" | "block";
  readonly id: string | number;
  readonly children: string;
}) {
  const url = chainPage(chainId.value, props.kind, props.id);
  if (url === null) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {props.children} ↗
    </a>
  );
}
