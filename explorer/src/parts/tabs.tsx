/** A row of buttons, one of which is chosen. */
export function Segments<Word extends string>(props: {
  readonly label: string;
  readonly words: readonly Word[];
  readonly chosen: Word;
  readonly onChoose: (word: Word) => void;
  readonly getName?: (word: Word) => string;
  readonly class?: string;
}) {
  const { words, chosen, onChoose, getName } = props;
  return (
    <div class={`segments ${props.class ?? ""}`} role="group" aria-label={props.label}>
      {words.map((word) => (
        <button
          type="button"
          key={word}
          aria-pressed={word === chosen}
          onClick={() => onChoose(word)}
        >
          {getName?.(word) ?? word}
        </button>
      ))}
    </div>
  );
}
