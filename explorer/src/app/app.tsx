import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { EventPage } from "../pages/event-page.tsx";
import { KeysPage } from "../pages/keys-page.tsx";
import { MarketPage } from "../pages/market-page.tsx";
import { MarketsPage } from "../pages/markets-page.tsx";
import { OrderPage } from "../pages/order-page.tsx";
import { StatusPage } from "../pages/status-page.tsx";
import { TradesPage } from "../pages/trades-page.tsx";
import { TransactionPage } from "../pages/transaction-page.tsx";
import { WalletPage } from "../pages/wallet-page.tsx";
import { Notice, Skeleton } from "../parts/states.tsx";
import { segments } from "../routing/location.ts";
import { access, outage } from "../service/session.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { KeyForm } from "./key-form.tsx";
import { isHelpOpen, watchShortcuts } from "./shortcuts.ts";

/** The page of the address; the name is its title until it has a better one. */
function pageOf([name = "", id = ""]: readonly string[]): readonly [string, ComponentChild] {
  switch (name) {
    case "":
      return ["Markets", <MarketsPage />];
    case "market":
      return ["Market", <MarketPage key={id} id={id} />];
    case "event":
      return ["Event", <EventPage key={id} id={id} />];
    case "wallet":
      return ["Wallet", <WalletPage key={id} address={id.toLowerCase()} />];
    case "tx":
      return ["Transaction", <TransactionPage key={id} hash={id.toLowerCase()} />];
    case "order":
      return ["Order", <OrderPage key={id} hash={id.toLowerCase()} />];
    case "trades":
      return ["Trades", <TradesPage />];
    case "status":
      return ["Status", <StatusPage />];
    case "keys":
      return ["Keys", <KeysPage />];
    default:
      return ["Not found", <UnknownPage />];
  }
}

/** The explorer: header, the page of the address, help. */
export function App() {
  const [title, page] = pageOf(segments.value);
  useEffect(watchShortcuts, []);
  useEffect(() => {
    document.title = `${title} · Oddwire`;
  }, [title, segments.value]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        <Content>{page}</Content>
      </main>
      {isHelpOpen.value && <HelpDialog />}
    </>
  );
}

/** The page, once the service has taken the key. */
function Content({ children }: { readonly children: ComponentChild }) {
  const now = access.value;
  switch (now.state) {
    case "open":
      return (
        <>
          {outage.value !== null && (
            <p class="stale" role="status">
              The service does not answer. What is shown is from before, and is read again when it
              does.
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
        <Notice title="The service does not answer" tone="warning">
          This page tries again until it does. ({now.failure.message})
        </Notice>
      );
  }
}

function UnknownPage() {
  return (
    <Notice title="There is no such page">
      <a href="/">Go to the markets</a>, or search above.
    </Notice>
  );
}
