import type { Feed, FeedReceiver } from "./channel.ts";
import type { Follower, Topic } from "./topic.ts";

/** One client that follows a feed. Nothing on the chain concerns it. */
export class FeedSubscription implements Follower {
  readonly topic: Topic;
  /** Nothing is ever read for it. */
  readonly settled: Promise<void> = Promise.resolve();
  readonly #feed: Feed;
  readonly #receiver: FeedReceiver;

  constructor(topic: Topic, feed: Feed, receiver: FeedReceiver) {
    this.topic = topic;
    this.#feed = feed;
    this.#receiver = receiver;
  }

  start(): void {
    this.#feed.add(this.#receiver);
  }

  end(): void {
    this.#feed.remove(this.#receiver);
  }

  report(): void {}
  readOn(): void {}
  rewind(): void {}
}
