import { percent } from "../format/numbers.ts";

/** A probability as a number and a bar. */
export function Probability(props: {
  readonly value: string | number | null;
  readonly name: string;
}) {
  const { value, name } = props;
  const width = `${Math.round(Number(value ?? 0) * 1000) / 10}%`;
  return (
    <span class="probability" title={`${name} ${percent(value)}`}>
      <span class="num strong">{percent(value)}</span>
      <span class="outcome-name">{name}</span>
      <span class="bar" aria-hidden="true">
        <span style={{ width }} />
      </span>
    </span>
  );
}
