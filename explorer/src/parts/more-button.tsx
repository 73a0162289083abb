import { useState } from "preact/hooks";
import { toFailure } from "../service/failure.ts";

/** A button that reads more rows of a list. After a failure it can be used again. */
export function MoreButton(props: {
  readonly label: string;
  readonly onRead: () => Promise<void>;
}) {
  const [isReading, setReading] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  // It is not disabled while it reads: a button that is disabled loses the focus.
  const read = async (): Promise<void> => {
    if (isReading) return;
    setReading(true);
    setFailure(null);
    try {
      await props.onRead();
    } catch (thrown) {
      setFailure(toFailure(thrown).message);
    }
    setReading(false);
  };
  return (
    <p class="row more">
      <button type="button" aria-disabled={isReading} onClick={() => void read()}>
        {isReading ? "Reading…" : props.label}
      </button>
      {failure !== null && (
        <span class="warn" role="status">
          {failure}
        </span>
      )}
    </p>
  );
}
