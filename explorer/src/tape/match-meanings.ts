import type { Trade } from "../../../clients/typescript/src/api.ts";

/** The match types of trades, each in a word and in a sentence. */
export const matchTypes: Readonly<
  Record<Trade["match_type"], { readonly word: string; readonly meaning: string }>
> = {
  complementary: {
    word: "complementary",
    meaning: "A buyer met a seller of the same outcome. Shares changed hands.",
  },
  mint: {
    word: "mint",
    meaning:
      "Two buyers of opposite outcomes met. Their dollars together became a new pair of shares.",
  },
  merge: {
    word: "merge",
    meaning: "Two sellers of opposite outcomes met. Their pair of shares became dollars again.",
  },
  direct: {
    word: "direct",
    meaning: "An order was filled directly by its taker, without the matching of several orders.",
  },
};
