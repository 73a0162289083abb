/** The faults of a campaign against a cluster, and their distribution over rounds. */
import type { SeededRandom } from "./seeded-random.ts";

/** How often each fault occurs in a whole campaign: every process is killed 20 times. */
const timesInCampaign = {
  redis: 10,
  active: 20,
  upgrade: 5,
  "api-a": 20,
  fork: 20,
  standby: 20,
  pause: 10,
  clickhouse: 10,
  "api-b": 20,
  "api-c": 20,
} as const;
export type Fault = keyof typeof timesInCampaign;

const kinds = Object.keys(timesInCampaign) as readonly Fault[];
/** Faults outside the processes. They can occur at the same time as another fault. */
const surroundings: ReadonlySet<Fault> = new Set(["redis", "clickhouse", "fork"]);

/**
 * The rounds of a whole campaign: first each fault once, so that a short campaign covers all of them, then the others
 * in random order, some in pairs.
 */
export function dealFaults(random: SeededRandom): readonly (readonly Fault[])[] {
  const rounds: Fault[][] = kinds.map((kind) => [kind]);
  const others = kinds.flatMap((kind) => Array<Fault>(timesInCampaign[kind] - 1).fill(kind));
  for (const fault of shuffled(others, random)) {
    const last = rounds.at(-1);
    if (rounds.length > kinds.length && last !== undefined && canJoin(last, fault)) {
      if (random.chance(0.5)) {
        last.push(fault);
        continue;
      }
    }
    rounds.push([fault]);
  }
  return rounds;
}

function canJoin(round: readonly Fault[], fault: Fault): boolean {
  const [first] = round;
  if (first === undefined || round.length > 1 || first === fault) return false;
  if (first === "upgrade" || fault === "upgrade") return false;
  return surroundings.has(first) || surroundings.has(fault);
}

function shuffled<Item>(items: readonly Item[], random: SeededRandom): readonly Item[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
