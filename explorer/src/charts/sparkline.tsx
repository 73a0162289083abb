/** A line without axes, scaled to the range of its values. That range counts as at least 0.02. */
export function Sparkline(props: {
  /** Values at equal distances; `null` before the first one. */
  readonly values: readonly (number | null)[];
  readonly label: string;
  readonly tone?: string;
  readonly width?: number;
  readonly height?: number;
  /** Whether the line fills the width of its place. */
  readonly isStretched?: boolean;
}) {
  const {
    values,
    label,
    tone = "dim",
    isStretched = false,
    width = isStretched ? 1000 : 96,
    height = 28,
  } = props;
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  const spread = Math.max(high - low, 0.02 * Math.max(1, high));
  const margin = 3;
  const x = (at: number): number =>
    (at / Math.max(1, values.length - 1)) * (width - 2 * margin) + margin;
  const y = (value: number): number =>
    height - margin - ((value - (low + high) / 2) / spread + 0.5) * (height - 2 * margin);
  const points = values.flatMap((value, at) =>
    value === null ? [] : [[x(at).toFixed(1), y(value).toFixed(1)] as const],
  );
  const [endX, endY] = points.at(-1) ?? [];
  return (
    <svg
      class={`sparkline ${tone}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio={isStretched ? "none" : undefined}
      role="img"
      aria-label={label}
    >
      <polyline points={points.join(" ")} />
      {endX !== undefined && !isStretched && <circle cx={endX} cy={endY} r={2} />}
    </svg>
  );
}
