/** The questions of markets, for lists that have only condition ids. They are read in batches and remembered. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConditionId } from "../../../clients/typescript/src/api.ts";
import { client } from "./session.ts";

const batchMax = 100;
const rememberedMax = 5000;
const gatherMs = 30;

type Questions = ReadonlyMap<ConditionId, string | null>;

const known = signal<Questions>(new Map());
const requested = new Set<ConditionId>();
let isReading = false;

/** Returns the known questions, and reads the missing ones of these conditions. */
export function useQuestions(ids: readonly (ConditionId | null)[]): Questions {
  const missing = [...new Set(ids)].filter((id) => id !== null && !known.value.has(id));
  const name = missing.join();
  useEffect(() => {
    for (const id of missing) if (id !== null && !known.peek().has(id)) requested.add(id);
    if (requested.size > 0) void readRequested();
  }, [name]);
  return known.value;
}

type Named = { readonly condition_id: ConditionId | null; readonly question?: string | null };

/** Remembers the questions of rows that were read with `include=market`. */
export function learnQuestions(rows: readonly Named[]): void {
  const learned = rows.flatMap(({ condition_id: id, question }) =>
    id === null || question === undefined || known.value.has(id) ? [] : [[id, question] as const],
  );
  if (learned.length === 0) return;
  known.value = new Map([...known.value, ...learned].slice(-rememberedMax));
}

async function readRequested(): Promise<void> {
  if (isReading) return;
  isReading = true;
  await new Promise((resolve) => setTimeout(resolve, gatherMs));
  try {
    while (requested.size > 0) {
      const ids = [...requested].slice(0, batchMax);
      for (const id of ids) requested.delete(id);
      const query = { condition_id: ids, status: "all", limit: batchMax } as const;
      const { data } = await client.value.markets(query).page();
      const named = data.flatMap(({ id, mirror, question }) =>
        [id, mirror?.condition_id ?? null].map((condition) => ({
          condition_id: condition,
          question,
        })),
      );
      learnQuestions(named);
    }
  } catch {
    // The rows show ids instead. The next row without a question starts another read.
  } finally {
    isReading = false;
  }
}
