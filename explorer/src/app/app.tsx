import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { showControls } from "../format/controls.ts";
import { EventPage } from "../pages/event-page.tsx";
import { KeysPage } from "../pages/keys-page.tsx";
import { MarketPage } from "../pages/market-page.tsx";
import { MarketsPage } from "../pages/markets-page.tsx";
import { OrderPage } from "../pages/order-page.tsx";
import { StatusPage } from "../pages/status-page.tsx";
import { TradesPage } from "../pages/trades-page.tsx";
import { TransactionPage } from "../pages/transaction-page.tsx";
import { WalletPage } from "../pages/wallet-page.tsx";
import { Countdown, FailureNotice, Notice, Skeleton } from "../parts/states.tsx";
import { segments } from "../routing/location.ts";
import { paths } from "../routing/paths.ts";
import { access, outage } from "../service/session.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { KeyForm } from "./key-form.tsx";
import { isHelpOpen, watchShortcuts } from "./shortcuts.ts";

/**
 * Returns the title and the page of a path, also of the same path of the API without `/v1`; `null` if there is none. A
 * page can replace its title later.
 */
function getPage(path: readonly string[]): readonly [string, ComponentChild] | null {
  const [name, id] = path;
  if (path.length > 2) return null;
  if (id !== undefined) return pageAbout(name, id);
  switch (name) {
    case undefined:
    case "markets":
      return ["Markets", <MarketsPage />];
    case "trades":
      return ["Trades", <TradesPage />];
    case "status":
      return ["Status", <StatusPage />];
    case "keys":
      return ["Keys", <KeysPage />];
    default:
      return null;
  }
}

function pageAbout(name: string | undefined, id: string): readonly [string, ComponentChild] | null {
  switch (name) {
    case "market":
    case "markets":
      return ["Market", <MarketPage key={id} id={id} />];
    case "event":
    case "events":
      return ["Event", <EventPage key={id} id={id} />];
    case "wallet":
    case "wallets":
      return ["Wallet", <WalletPage key={id} address={id.toLowerCase()} />];
    case "tx":
    case "transactions":
      return ["Transaction", <TransactionPage key={id} hash={id.toLowerCase()} />];
    case "order":
    case "orders":
      return ["Order", <OrderPage key={id} hash={id.toLowerCase()} />];
    default:
      return null;
  }
}

/** The explorer: the header, the page of the address and the help dialog. */
export function App() {
  const page = getPage(segments.value);
  const title = page?.[0] ?? "Not found";
  useEffect(watchShortcuts, []);
  useEffect(() => {
    document.title = showControls(`${title} · Oddwire`);
  }, [title, segments.value]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        {page === null ? <UnknownPage /> : <Content>{page[1]}</Content>}
      </main>
      {isHelpOpen.value && <HelpDialog />}
    </>
  );
}

/** Shows the page once the service accepts the key; before that, the key form or the failure. */
function Content({ children }: { readonly children: ComponentChild }) {
  const now = access.value;
  switch (now.state) {
    case "open":
      return (
        <>
          {outage.value !== null && (
            <p class="stale" role="status">
              {outage.value.kind === "limited"
                ? `${outage.value.message}. Showing the last data received. Retrying automatically`
                : "Connection lost. Showing the last data received. Reconnecting…"}
              <Countdown />
            </p>
          )}
          {children}
        </>
      );
    case "locked":
      return <KeyForm isRefused={now.isRefused} />;
    case "checking":
      return now.failure === null ? (
        <Skeleton lines={6} />
      ) : (
        <FailureNotice failure={now.failure} what="service" />
      );
  }
}

/** The page of an unknown address. It needs no key. */
function UnknownPage() {
  if (segments.value[0] === "guide") return <UnknownGuide />;
  return (
    <>
      <h1 class="loading">Not found</h1>
      <Notice title="There is no such page">
        <a href={paths.markets}>Go to the markets</a>, or read the{" "}
        <a href={paths.reference}>API reference</a>.
      </Notice>
    </>
  );
}

/** A page of the documentation that the service does not have: a checkout has none until they are built. */
function UnknownGuide() {
  return (
    <>
      <h1 class="loading">Not found</h1>
      <Notice title="The guide has no such page here">
        In a checkout, <code>npm run guide</code> builds it; then load this page again. The{" "}
        <a href={paths.reference}>API reference</a> is always there.
      </Notice>
    </>
  );
}
