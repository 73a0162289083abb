/** The depth chart: the dollars of all orders up to each price, near the middle of the book. */
import { useState } from "preact/hooks";
import type { Level } from "../../../clients/typescript/src/local-book.ts";
import { cents, dollars } from "../format/numbers.ts";

const size = { width: 320, height: 110, foot: 18 };
const nearest = 0.1;

export type Sides = { readonly bids: readonly Level[]; readonly asks: readonly Level[] };

type Step = { readonly price: number; readonly total: number };

/** Cumulative depth within ten cents of the middle. */
export function Depth({ bids, asks }: Sides) {
  const [hovered, setHovered] = useState<number | null>(null);
  const middle = getMiddle({ bids, asks });
  if (middle === null) return null;
  const low = Math.max(0, middle - nearest);
  const high = Math.min(1, middle + nearest);
  const bidSteps = accumulate(bids, (price) => price >= low);
  const askSteps = accumulate(asks, (price) => price <= high);
  const most = Math.max(bidSteps.at(-1)?.total ?? 0, askSteps.at(-1)?.total ?? 0, 1);
  const x = (price: number): number => ((price - low) / (high - low)) * size.width;
  const y = (total: number): number => (size.height - size.foot) * (1 - total / (most * 1.08));
  const at = hovered === null ? null : low + hovered * (high - low);
  return (
    <div class="depth">
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={`Depth: ${dollars(bidSteps.at(-1)?.total ?? 0)} of bids and ${dollars(askSteps.at(-1)?.total ?? 0)} of asks within ten cents`}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setHovered(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
        }}
        onPointerLeave={() => setHovered(null)}
      >
        <path class="bid" d={drawSteps(bidSteps, { x, y, end: 0 })} />
        <path class="ask" d={drawSteps(askSteps, { x, y, end: size.width })} />
        {[low, middle, high].map((price, index) => (
          <text
            key={index}
            x={x(price)}
            y={size.height - 4}
            text-anchor={["start", "middle", "end"][index]}
          >
            {cents(price)}
          </text>
        ))}
        {at !== null && (
          <line class="cross" x1={x(at)} x2={x(at)} y1={0} y2={size.height - size.foot} />
        )}
      </svg>
      <p class="dim num" aria-hidden="true">
        {at === null
          ? `Depth within ${cents(nearest)} of the mid`
          : describe(at, bidSteps, askSteps)}
      </p>
    </div>
  );
}

/** Returns the price halfway between the best bid and the best ask; `null` if a side is empty. */
export function getMiddle({ bids: [bid], asks: [ask] }: Sides): number | null {
  if (bid === undefined || ask === undefined) return null;
  return (Number(bid.price) + Number(ask.price)) / 2;
}

function describe(price: number, bids: readonly Step[], asks: readonly Step[]): string {
  const bid = bids.findLast((step) => step.price >= price);
  const ask = asks.findLast((step) => step.price <= price);
  const [step, word] = bid === undefined ? [ask, "offered up to"] : [bid, "bid down to"];
  return step === undefined ? cents(price) : `${dollars(step.total)} ${word} ${cents(price)}`;
}

function accumulate(levels: readonly Level[], isNear: (price: number) => boolean): Step[] {
  let total = 0;
  const steps: Step[] = [];
  for (const level of levels) {
    const price = Number(level.price);
    if (!isNear(price)) break;
    total += price * Number(level.size);
    steps.push({ price, total });
  }
  return steps;
}

function drawSteps(
  steps: readonly Step[],
  scale: { x: (price: number) => number; y: (total: number) => number; end: number },
): string {
  const [best] = steps;
  if (best === undefined) return "";
  const { x, y, end } = scale;
  const floor = size.height - size.foot;
  const corners = steps.map(({ price, total }) => `H${x(price).toFixed(1)}V${y(total).toFixed(1)}`);
  return `M${x(best.price).toFixed(1)},${floor}${corners.join("")}H${end}V${floor}Z`;
}
