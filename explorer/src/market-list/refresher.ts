/** How often values are read. */
type Pace = {
  /** A value is read again after this, while its item is watched. */
  readonly freshMs: number;
  /** The most readings without a pause, and the time in which one more is allowed again. */
  readonly burst: number;
  readonly perReadMs: number;
};

type Watched<Item> = {
  readonly getItem: () => Item;
  readonly onRead: () => void;
  readonly sinceMs: number;
};

type Read<Value> = { readonly value: Value | null; readonly atMs: number };

const atOnceMax = 3;
const rememberedMax = 2000;
/** A failed reading is repeated after this. */
const retryMs = 10_000;
/** An item that is watched for less than this, such as a row that is scrolled past, is not read. */
const dwellMs = 200;

/** Reads a value for each watched item, and again when it is old: the oldest first, a few at a time, within a pace. */
export class Refresher<Item, Value> {
  readonly #read: (item: Item) => Promise<Value>;
  readonly #getPace: () => Pace;
  readonly #watched = new Map<string, Watched<Item>>();
  /** Values by id, the one that was read last at the end. */
  readonly #values = new Map<string, Read<Value>>();
  #running = 0;
  #nowMs = 0;
  /** When the readings so far are paid for: each one costs `perReadMs`. */
  #paidMs = -Infinity;

  constructor(read: (item: Item) => Promise<Value>, getPace: () => Pace) {
    this.#read = read;
    this.#getPace = getPace;
  }

  /** Returns the value that was read last; `null` if there is none. */
  valueOf(id: string): Value | null {
    return this.#values.get(id)?.value ?? null;
  }

  /** Keeps the value of an item fresh until the returned function is called. */
  watch(id: string, getItem: () => Item, onRead: () => void): () => void {
    const watched = { getItem, onRead, sinceMs: this.#nowMs };
    this.#watched.set(id, watched);
    return () => {
      if (this.#watched.get(id) === watched) this.#watched.delete(id);
    };
  }

  /** Starts the readings that are due. Called regularly. */
  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    const { freshMs, burst, perReadMs } = this.#getPace();
    const due = [...this.#watched]
      .map(([id, watched]) => ({ id, watched, atMs: this.#values.get(id)?.atMs ?? -Infinity }))
      .filter(({ watched, atMs }) => nowMs - watched.sinceMs >= dwellMs && nowMs - atMs >= freshMs)
      .toSorted((a, b) => a.atMs - b.atMs);
    for (const { id, watched } of due) {
      const earliestMs = Math.max(this.#paidMs, nowMs - burst * perReadMs);
      if (this.#running >= atOnceMax || earliestMs + perReadMs > nowMs) return;
      this.#paidMs = earliestMs + perReadMs;
      void this.#refresh(id, watched);
    }
  }

  async #refresh(id: string, { getItem, onRead }: Watched<Item>): Promise<void> {
    this.#running += 1;
    const before = this.valueOf(id);
    this.#remember(id, before, this.#nowMs);
    try {
      this.#remember(id, await this.#read(getItem()), this.#nowMs);
      onRead();
    } catch {
      this.#remember(id, before, this.#nowMs - this.#getPace().freshMs + retryMs);
    }
    this.#running -= 1;
    this.tick(this.#nowMs);
  }

  #remember(id: string, value: Value | null, atMs: number): void {
    this.#values.delete(id);
    this.#values.set(id, { value, atMs });
    const [oldest] = this.#values.keys();
    if (this.#values.size > rememberedMax && oldest !== undefined) this.#values.delete(oldest);
  }
}
