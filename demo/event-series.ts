/**
 * The events of the demo: series of invented events. When an event ends, the next of its series takes its place, so
 * that trading never stops. People, clubs and most places do not exist.
 */
import type { VenueName } from "./addresses.ts";

export type QuestionDraft = {
  readonly title: string;
  readonly outcomes: readonly [string, string];
  /**
   * The probability of the first outcome at the start. If an event has several questions, their probabilities sum to 1.
   */
  readonly chance: number;
};

export type EventDraft = {
  readonly title: string;
  readonly description: string;
  /** One question, or several of which exactly one comes true. */
  readonly questions: readonly QuestionDraft[];
};

export type EventSeries = {
  readonly venue: VenueName;
  /** The tags of its events at the venue; the first is the category. */
  readonly tags: readonly string[];
  /** Its share of the trading, relative to the other series. */
  readonly popularity: number;
  readonly feeRateBps: number;
  readonly minutes: number;
  /** Whether its events end at multiples of their length, as events on prices do. */
  readonly isAligned: boolean;
  /** Whether its events can be abandoned, and then pay half to each outcome. */
  readonly canBeAbandoned: boolean;
  /** Returns event number `serial`, from `opensAt` to `closesAt`. */
  draft(serial: number, opensAt: Date, closesAt: Date): EventDraft;
};

const cryptoFeeBps = 700;
const sportsFeeBps = 300;
const day = 24 * 60;

export const eventSeries: readonly EventSeries[] = [
  upOrDown({ asset: "Bitcoin", venue: "standardV2", minutes: 5, popularity: 9 }),
  upOrDown({ asset: "Ethereum", venue: "standardV2", minutes: 10, popularity: 5 }),
  upOrDown({ asset: "Solana", venue: "standardV1", minutes: 15, popularity: 3 }),
  game({ venue: "standardV1", minutes: 25, popularity: 4 }, [
    ["Kestrel City", "Żubry Nowy Port"],
    ["Atlético Azañares", "Real Peñasol"],
    ["Sólheimar Giants", "Þorlákur Bears"],
    ["Île-aux-Pins Racing", "Étoile du Cap"],
  ]),
  game({ venue: "standardV2", minutes: 35, popularity: 4 }, [
    ["東雲ドラゴンズ", "北浜ホエールズ"],
    ["Harbour Foxes", "Summit Owls"],
    ["Gülpınar Yıldızları", "Çamlıdere SK"],
  ]),
  game({ venue: "standardV1", minutes: 45, popularity: 2 }, [
    ["N. Brânză", "J. Ødegård-Lund"],
    ["M. Nguyễn", "A. O'Shaughnessy"],
    ["K. Škvorecká", "D. Iñárritu"],
  ]),
  yesOrNo({ venue: "standardV1", minutes: 60, tags: ["Weather"], popularity: 2 }, [
    ["Will it rain in Bergen before the market closes?", 0.62],
    ["Will Mount Ventoux measure a gust above 90 km/h?", 0.31],
    ["Will Ushuaia report snow?", 0.44],
  ]),
  yesOrNo({ venue: "standardV2", minutes: 90, tags: ["Weather"], popularity: 2 }, [
    ["Will São Corvino be warmer than 31 °C today?", 0.55],
    ["Will Reykjavík stay below 4 °C until the evening?", 0.37],
    ["Will fog close Gdynia harbour today?", 0.2],
  ]),
  yesOrNo(
    { venue: "standardV2", minutes: 30 * day, tags: ["Politics", "Elections"], popularity: 3 },
    [
      ["Will mayor Élodie Brânză of São Corvino be re-elected?", 0.58],
      ["Will the Velmora coalition keep its majority?", 0.41],
    ],
  ),
  yesOrNo(
    { venue: "standardV1", minutes: 60 * day, tags: ["Economy", "Central banks"], popularity: 2 },
    [
      ["Will the central bank of Østmark cut rates at its next meeting?", 0.71],
      ["Will inflation in Østmark fall below 2.0 % this quarter?", 0.35],
    ],
  ),
  yesOrNo({ venue: "standardV2", minutes: 45 * day, tags: ["Culture"], popularity: 2 }, [
    ['Will "La Niñera del Faro" win best picture at the Lagoon festival?', 0.27],
    ["Will the band Ørken & Ιθάκη announce a tour: Europe, then Asia?", 0.49],
  ]),
  yesOrNo({ venue: "standardV1", minutes: 90 * day, tags: ["Science"], popularity: 1 }, [
    ["Will the probe Mīharo reach lunar orbit this year? 🚀", 0.83],
    ["Will a chess engine solve 7×7 chess this year?", 0.04],
  ]),
  election({ venue: "negRiskV2", minutes: 40 * day, popularity: 7 }),
  footballMatch({ venue: "negRiskV1", minutes: 120, popularity: 5 }),
];

type Frame = Pick<EventSeries, "venue" | "popularity" | "minutes">;
type TaggedFrame = Frame & Pick<EventSeries, "tags">;

function upOrDown({ asset, ...frame }: Frame & { asset: string }): EventSeries {
  return {
    ...frame,
    tags: ["Crypto", asset, "Up or Down"],
    feeRateBps: cryptoFeeBps,
    isAligned: true,
    canBeAbandoned: false,
    draft: (_serial, opensAt, closesAt) => {
      const title = `${asset} Up or Down - ${getDate(opensAt)}, ${getTime(opensAt)}-${getTime(closesAt)} UTC`;
      return {
        title,
        description: `Resolves to "Up" if the price of ${asset} at the end of the window is at or above the price at its start, else to "Down".`,
        questions: [{ title, outcomes: ["Up", "Down"], chance: 0.5 }],
      };
    },
  };
}

function game(frame: Frame, fixtures: readonly (readonly [string, string])[]): EventSeries {
  return {
    ...frame,
    tags: ["Sports", "Games"],
    feeRateBps: sportsFeeBps,
    isAligned: false,
    canBeAbandoned: true,
    draft: (serial, opensAt) => {
      const outcomes = getItem(fixtures, serial);
      const title = outcomes.join(" vs. ");
      return {
        title,
        description: `The game of ${getDate(opensAt)} that starts at ${getTime(opensAt)} UTC.\nIf it is abandoned, the market resolves 50-50.`,
        questions: [{ title, outcomes, chance: 0.35 + 0.1 * (serial % 4) }],
      };
    },
  };
}

function yesOrNo(
  frame: TaggedFrame,
  questions: readonly (readonly [string, number])[],
): EventSeries {
  return {
    ...frame,
    feeRateBps: 0,
    isAligned: false,
    canBeAbandoned: false,
    draft: (serial, opensAt, closesAt) => {
      const [title, chance] = getItem(questions, serial);
      return {
        title,
        description: `Asked on ${getDate(opensAt)}. Resolves by ${getDate(closesAt)}, ${getTime(closesAt)} UTC, by “official” sources.`,
        questions: [{ title, outcomes: ["Yes", "No"], chance }],
      };
    },
  };
}

function election(frame: Frame): EventSeries {
  const candidates: readonly (readonly [string, number])[] = [
    ["Ana-Lucía Herrera", 0.38],
    ["Björn Þórsson", 0.27],
    ["Chiamaka Ọ̀ṣun", 0.19],
    ["Dmytro Čermák", 0.11],
    ["anybody else", 0.05],
  ];
  return {
    ...frame,
    tags: ["Politics", "Elections"],
    feeRateBps: 0,
    isAligned: false,
    canBeAbandoned: false,
    draft: () => ({
      title: "Federation presidency",
      description: "Who will be elected president of the Federation?",
      questions: candidates.map(([name, chance]) => ({
        title: `Will ${name} win the Federation presidency?`,
        outcomes: ["Yes", "No"],
        chance,
      })),
    }),
  };
}

function footballMatch(frame: Frame): EventSeries {
  const pairs: readonly (readonly [string, string])[] = [
    ["Saint-Éloi", "Monte Carvão"],
    ["Kõrvemaa", "Młyniec"],
    ["Nový Brod", "Göksu"],
  ];
  return {
    ...frame,
    tags: ["Sports", "Football"],
    feeRateBps: sportsFeeBps,
    isAligned: false,
    canBeAbandoned: false,
    draft: (serial, opensAt) => {
      const [home, away] = getItem(pairs, serial);
      const question = (title: string, chance: number): QuestionDraft => ({
        title: `${title} on ${getDate(opensAt)}?`,
        outcomes: ["Yes", "No"],
        chance,
      });
      return {
        title: `${home} vs. ${away}`,
        description: `The result after 90 minutes of ${home} against ${away}.`,
        questions: [
          question(`Will ${home} beat ${away}`, 0.45),
          question(`Will ${home} and ${away} draw`, 0.25),
          question(`Will ${away} beat ${home}`, 0.3),
        ],
      };
    },
  };
}

function getItem<Item>(items: readonly Item[], serial: number): Item {
  const item = items[serial % items.length];
  if (item === undefined) throw new RangeError("a series without events");
  return item;
}

function getDate(time: Date): string {
  return time.toLocaleDateString("en-US", { month: "long", day: "numeric", timeZone: "UTC" });
}

function getTime(time: Date): string {
  return time.toISOString().slice(11, 16);
}
