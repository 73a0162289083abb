/** A line without axes, scaled to the range of its values. That range counts as at least 0.02. */
export function Sparkline(props: {
  readonly values: readonly number[];
  readonly label: string;
  readonly tone?: string;
  readonly width?: number;
  readonly height?: number;
}) {
  const { values, label, tone = "dim", width = 96, height = 28 } = props;
  if (values.length < 2)
    return <svg class="sparkline" width={width} height={height} role="img" aria-label={label} />;
  const low = Math.min(...values);
  const high = Math.max(...values);
  const spread = Math.max(high - low, 0.02 * Math.max(1, high));
  const x = (at: number): number => (at / (values.length - 1)) * (width - 2) + 1;
  const y = (value: number): number =>
    height - 3 - ((value - (low + high) / 2) / spread + 0.5) * (height - 6);
  const line = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  return (
    <svg
      class={`sparkline ${tone}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      <polyline points={line.join(" ")} />
    </svg>
  );
}
