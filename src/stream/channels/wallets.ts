import { mapYielding } from "../../base/time/turns.ts";
import type { BlockFacts } from "../../market/block-facts.ts";
import { type Activity, groupActivity } from "../../market/ledger/activity.ts";
import { getRowContext } from "../../query/row-context.ts";
import { readActivity } from "../../query/wallets/read-activity.ts";
import { requireWallets } from "../../query/wallets/require-wallets.ts";
import { formatActivityId, toActivityRow } from "../../rows/wallets/activity-row.ts";
import type { ChannelLog, Entry, Opening, StreamSources } from "../hub/channel.ts";

/** Opens the `wallet` channel: what some wallets do. Throws `NOT_FOUND` when wallets are not indexed. */
export function openWallets({ sources, wallets }: Opening): ChannelLog {
  requireWallets(sources.state.directory.contracts);
  const isRequested = new Set(wallets);
  const toActivity = ({ ledger }: BlockFacts) =>
    groupActivity(ledger.filter(({ wallet }) => isRequested.has(wallet))).toSorted(
      (one, other) => one.seq - other.seq,
    );
  return {
    event: "activity",
    interest: () => ({ tokenIds: [], events: false, wallets: isRequested }),
    toEntries: (block) => toActivity(block).map(entryWriter(sources)),
    read: async (page) => {
      const rows = await readActivity(sources.facts, { ...page, wallets, filter: {} });
      return mapYielding(rows, entryWriter(sources));
    },
    revertedBy: (removed) => removed.flatMap(toActivity).map(formatActivityId),
  };
}

function entryWriter(sources: StreamSources): (activity: Activity) => Entry {
  const context = getRowContext(sources);
  return (activity) => ({
    seq: activity.seq,
    json: JSON.stringify(toActivityRow(activity, context)),
  });
}
