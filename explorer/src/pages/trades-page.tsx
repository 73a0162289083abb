import { dollars } from "../format/numbers.ts";
import { Panel } from "../parts/panel.tsx";
import { Segments } from "../parts/tabs.tsx";
import { getChoice, setParameters } from "../routing/location.ts";
import { LiveTape } from "../tape/live-tape.tsx";

const sizes = ["", "10", "100", "1000", "10000"] as const;
const sides = ["", "BUY", "SELL"] as const;

/** The trades of all markets as they happen. */
export function TradesPage() {
  const minValue = getChoice("min_value", sizes);
  const side = getChoice("side", sides);
  const filter = {
    ...(minValue === "" ? {} : { min_value: minValue }),
    ...(side === "" ? {} : { side }),
  };
  const isFiltered = minValue !== "" || side !== "";
  const request = {
    title: "Trades",
    path: "/v1/trades",
    query: { min_value: minValue, side, include: "market", limit: 100 },
    isBulk: true,
  };
  return (
    <>
      <div class="page-head">
        <h1>Trades</h1>
      </div>
      <Panel
        title="All markets"
        requests={[request]}
        tools={
          <>
            <Segments
              label="Least value"
              words={sizes}
              chosen={minValue}
              getName={(size) => (size === "" ? "All" : `≥ ${dollars(size)}`)}
              onChoose={(size) => setParameters({ min_value: size }, { isStep: true })}
            />
            <Segments
              label="Side"
              words={sides}
              chosen={side}
              getName={(one) => ({ "": "Both sides", BUY: "Buys", SELL: "Sells" })[one]}
              onChoose={(one) => setParameters({ side: one }, { isStep: true })}
            />
          </>
        }
      >
        <LiveTape
          channel={{ type: "trades", ...(isFiltered ? { filter } : {}) }}
          hasMarket={true}
          label="Trades of all markets, newest first"
          emptyText={isFiltered ? "No such trades yet" : "No trades yet"}
        />
      </Panel>
    </>
  );
}
